#include "plugin/passes/patterns/pattern_rewrite.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugin/base/proto_text.h"
#include "plugin/base/status_macros.h"
#include "plugin/passes/analysis/constant_value.h"
#include "plugin/passes/graph/graph_util.h"
#include "plugin/passes/graph/node_maker.h"
#include "plugin/passes/graph/unused_nodes.h"
#include "tensorflow/core/framework/attr_value_util.h"
#include "tensorflow/core/framework/node_def_builder.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/graph/algorithm.h"
#include "tensorflow/core/platform/logging.h"

namespace hpu::passes {
namespace {

using tensorflow::AttrValue;
using tensorflow::Edge;
using tensorflow::Graph;
using tensorflow::Node;
using tensorflow::PartialTensorShape;

// The captured attribute, converted to the type that the fused op declares for its attribute `name`.
absl::StatusOr<AttrValue> ConvertedValue(const std::string& name, const AttrValue& captured, const std::string& type) {
  AttrValue value;
  if (type == "tensor" && captured.value_case() == AttrValue::kF) {
    tensorflow::Tensor(captured.f()).AsProtoTensorContent(value.mutable_tensor());
    return value;
  }
  if (!captured.has_tensor() || type == "tensor") return captured;
  const std::vector<int64_t> numbers = WholeNumbersOf(captured);
  const std::optional<double> number = NumberOf(captured);
  if (type == "list(int)" && !numbers.empty()) {
    for (const int64_t element : numbers) value.mutable_list()->add_i(element);
    return value;
  }
  if (type == "float" && number.has_value() && captured.tensor().tensor_shape().dim_size() == 0) {
    value.set_f(static_cast<float>(*number));
    return value;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("cannot convert the captured value of ", name, " to ", type, ": ", ProtoText(captured)));
}

// Parses an attribute's value that the pattern table contains as a literal.
AttrValue ParseLiteral(const std::string& text, const std::string& type) {
  AttrValue value;
  if (type == "bool") {
    value.set_b(text == "true");
  } else if (type == "int") {
    int64_t number = 0;
    CHECK(absl::SimpleAtoi(text, &number)) << text;
    value.set_i(number);
  } else {
    value.set_s(text);
  }
  return value;
}

// The shape of result 0 that the op's shape function infers; unknown if inference fails.
PartialTensorShape InferredShape(const tensorflow::NodeDef& definition, const tensorflow::OpRegistrationData& op,
                                 const std::vector<PartialTensorShape>& inputs, int producer) {
  tensorflow::shape_inference::InferenceContext context(producer, tensorflow::AttrSlice(definition), op.op_def, inputs,
                                                        std::vector<const tensorflow::Tensor*>(inputs.size(), nullptr),
                                                        {}, {});
  PartialTensorShape shape;
  if (!context.construction_status().ok() || !context.Run(op.shape_inference_fn).ok()) return shape;
  tensorflow::TensorShapeProto proto;
  context.ShapeHandleToProto(context.output(0), &proto);
  return PartialTensorShape(proto);
}

std::string Signature(const tensorflow::NodeDef& definition, const std::vector<Output>& inputs) {
  std::string signature = definition.op();
  for (const Output& input : inputs) absl::StrAppend(&signature, " ", input.node->id(), ":", input.index);
  const std::map<std::string, AttrValue> attrs(definition.attr().begin(), definition.attr().end());
  for (const auto& [name, value] : attrs) {
    absl::StrAppend(&signature, " ", name, "=", tensorflow::SummarizeAttrValue(value));
  }
  return signature;
}

// Adds the op types of `fused` and of the ops that compute its inputs, inputs first.
void AddOps(const OpExpression& fused, std::vector<std::string_view>* ops) {
  for (const OpExpression& argument : fused.args) AddOps(argument, ops);
  if (fused.kind == OpExpression::Kind::kOp && !absl::c_linear_search(*ops, fused.name)) ops->push_back(fused.name);
}

// The nodes sorted by id. The set's own order depends on addresses, so graphs would differ between runs.
std::vector<Node*> InOrder(const absl::flat_hash_set<Node*>& nodes) {
  std::vector<Node*> order(nodes.begin(), nodes.end());
  absl::c_sort(order, [](const Node* a, const Node* b) { return a->id() < b->id(); });
  return order;
}

// Whether a control edge from the node is redundant. True for nodes and inputs of the match, and for a Shape or ShapeN
// of such nodes.
bool IsInside(const Node& node, const absl::flat_hash_set<const Node*>& inside) {
  if (inside.contains(&node)) return true;
  if (node.type_string() != "Shape" && node.type_string() != "ShapeN") return false;
  return absl::c_all_of(node.in_edges(), [&](const Edge* edge) { return inside.contains(edge->src()); });
}

// Sources of the control edges that the fused op must inherit from the match.
std::vector<Node*> ControlInputs(const PatternMatch& match, const absl::flat_hash_set<Node*>& own,
                                 const std::vector<Output>& inputs) {
  absl::flat_hash_set<const Node*> inside(own.begin(), own.end());
  inside.insert(match.shared.begin(), match.shared.end());
  inside.insert(match.trivial.begin(), match.trivial.end());
  for (const Output& input : inputs) inside.insert(input.node);
  absl::flat_hash_set<Node*> found;
  for (const auto* nodes : {&match.nodes, &match.shared}) {
    for (const Node* node : *nodes) {
      for (const Edge* edge : node->in_edges()) {
        const bool waits = edge->IsControlEdge() && !edge->src()->IsSource() && !IsInside(*edge->src(), inside);
        if (waits) found.insert(edge->src());
      }
    }
  }
  return InOrder(found);
}

}  // namespace

PatternRewriter::Nodes PatternRewriter::OwnNodes(const PatternMatch& match) const {
  const absl::flat_hash_set<const Node*> shared(match.shared.begin(), match.shared.end());
  Nodes own{match.root};
  for (Node* node : match.nodes) {
    if (!shared.contains(node)) own.insert(node);
  }
  // Repeats until no node is added, because the user of a trivial node may be another trivial node.
  for (size_t before = 0; before != own.size();) {
    before = own.size();
    for (Node* node : match.trivial) {
      const bool only = absl::c_all_of(node->out_edges(), [&](const Edge* edge) { return own.contains(edge->dst()); });
      if (only) own.insert(node);
    }
  }
  return own;
}

bool PatternRewriter::KeepsUnmatchedUses(const Nodes& own, const std::vector<Moved>& moved) const {
  const auto is_result = [&moved](const Edge* edge) {
    const Output output{edge->src(), edge->src_output()};
    return absl::c_any_of(moved, [&](const Moved& result) { return result.from == output; });
  };
  return absl::c_all_of(own, [&](Node* node) {
    return absl::c_all_of(node->out_edges(), [&](const Edge* edge) {
      return edge->IsControlEdge() || own.contains(edge->dst()) || is_result(edge);
    });
  });
}

void PatternRewriter::ComputeLevels() {
  levels_.assign(graph_->num_node_ids(), 0);
  std::vector<Node*> order;
  const auto forward = [](const Edge& edge) { return !edge.src()->IsNextIteration(); };
  tensorflow::GetReversePostOrder(*graph_, &order, {}, forward);
  for (const Node* node : order) {
    for (const Edge* edge : node->in_edges()) {
      if (forward(*edge)) levels_[node->id()] = std::max(levels_[node->id()], levels_[edge->src()->id()] + 1);
    }
  }
}

int PatternRewriter::Level(const Node& node) const {
  return static_cast<size_t>(node.id()) < levels_.size() ? levels_[node.id()] : 0;
}

// The fused op returns all results after it has all inputs, so no path may lead from a result to an input. The root's
// result needs no search, because the root already waits for all inputs.
bool PatternRewriter::MakesCycle(const Nodes& own, const Node& root, const std::vector<Output>& inputs,
                                 const std::vector<Node*>& control_inputs) {
  std::vector<const Node*> waiting;
  for (const Node* node : own) {
    for (const Edge* edge : node->out_edges()) {
      if (own.contains(edge->dst()) || edge->dst()->IsSink() || node == &root) continue;
      waiting.push_back(edge->dst());
    }
  }
  if (waiting.empty()) return false;
  if (levels_.empty()) ComputeLevels();
  absl::flat_hash_set<const Node*> before(control_inputs.begin(), control_inputs.end());
  int highest = 0;
  for (const Output& input : inputs) before.insert(input.node);
  for (const Node* node : before) highest = std::max(highest, Level(*node));
  absl::flat_hash_set<const Node*> seen;
  while (!waiting.empty()) {
    const Node* node = waiting.back();
    waiting.pop_back();
    if (before.contains(node)) return true;
    if (Level(*node) >= highest || !seen.insert(node).second || node->IsNextIteration()) continue;
    for (const Edge* edge : node->out_edges()) waiting.push_back(edge->dst());
  }
  return false;
}

PartialTensorShape PatternRewriter::ShapeOf(const PatternMatch& match, const tensorflow::NodeDef& definition,
                                            const std::vector<Output>& inputs) const {
  const tensorflow::OpRegistrationData* op = nullptr;
  if (!graph_->op_registry()->LookUp(definition.op(), &op).ok()) return PartialTensorShape();
  std::vector<PartialTensorShape> shapes;
  for (const Output& input : inputs) {
    const auto added = added_shapes_.find(input.node);
    shapes.push_back(added != added_shapes_.end() ? added->second
                                                  : match.shapes->Get().Shape(*input.node, input.index));
  }
  return InferredShape(definition, *op, shapes, graph_->versions().producer());
}

bool PatternRewriter::KeepsShape(const PatternMatch& match, const tensorflow::NodeDef& definition,
                                 const std::vector<Output>& inputs) const {
  if (match.Find("dy") == nullptr) return true;
  return ShapeOf(match, definition, inputs).IsCompatibleWith(match.shapes->Get().Shape(*match.root, 0));
}

absl::StatusOr<tensorflow::NodeDef> PatternRewriter::Define(const Pattern& pattern, const PatternMatch& match,
                                                            const OpExpression& fused, std::vector<Output>* inputs) {
  const Node& root = *match.root;
  const tensorflow::OpDef* op = nullptr;
  HPU_RETURN_IF_ERROR(graph_->op_registry()->LookUpOpDef(fused.name, &op));
  tensorflow::NodeDefBuilder builder(root.name(), op);
  builder.Device(root.requested_device());
  for (const OpExpression& argument : fused.args) {
    HPU_ASSIGN_OR_RETURN(const Output input, InputFor(pattern, match, argument));
    builder.Input(input.node->name(), input.index, input.node->output_type(input.index));
    inputs->push_back(input);
  }
  for (const auto& [name, text] : fused.attrs) {
    const auto* declared = tensorflow::FindAttr(name, *op);
    CHECK(declared != nullptr) << pattern.entry->name << ": " << op->name() << " has no attribute " << name;
    if (text[0] != '$') {
      builder.Attr(name, ParseLiteral(text, declared->type()));
      continue;
    }
    const AttrValue* captured = match.FindAttr(std::string_view(text).substr(1));
    CHECK(captured != nullptr) << pattern.entry->name << ": no capture is named " << text;
    HPU_ASSIGN_OR_RETURN(const AttrValue value, ConvertedValue(name, *captured, declared->type()));
    builder.Attr(name, value);
  }
  tensorflow::NodeDef definition;
  HPU_RETURN_IF_ERROR(builder.Finalize(&definition));
  HPU_RETURN_IF_ERROR(tensorflow::ValidateNodeDef(definition, *op));  // fails for unsupported types
  return definition;
}

absl::StatusOr<Output> PatternRewriter::InputFor(const Pattern& pattern, const PatternMatch& match,
                                                 const OpExpression& argument) {
  if (argument.kind == OpExpression::Kind::kOp) {
    std::vector<Output> inputs;
    HPU_ASSIGN_OR_RETURN(tensorflow::NodeDef definition, Define(pattern, match, argument, &inputs));
    const auto made = made_.find(Signature(definition, inputs));
    Node* node = made == made_.end() ? nullptr : graph_->FindNodeId(made->second);
    if (node == nullptr) {
      definition.set_name(graph_->NewName(absl::StrCat(match.root->name(), "/", argument.name)));
      HPU_ASSIGN_OR_RETURN(node, Add(definition, inputs, *match.root));
      SetLevel(*node);
    }
    if (match.Find("dy") != nullptr) added_shapes_[node] = ShapeOf(match, definition, inputs);
    return Output{node, argument.output};
  }
  const Output* value = match.Find(argument.name);
  CHECK(value != nullptr) << pattern.entry->name << ": no value is named " << argument.name;
  // A name without a statement is bound to a value, which includes the output index.
  return Output{value->node, pattern.Find(argument.name) == nullptr ? value->index : argument.output};
}

absl::StatusOr<Node*> PatternRewriter::Add(const tensorflow::NodeDef& definition, const std::vector<Output>& inputs,
                                           const Node& root) {
  tensorflow::Status status;
  Node* node = graph_->AddNode(definition, &status);
  HPU_RETURN_IF_ERROR(status);
  node->set_assigned_device_name(root.assigned_device_name());
  for (size_t i = 0; i < inputs.size(); ++i) {
    graph_->AddEdge(inputs[i].node, inputs[i].index, node, static_cast<int>(i));
  }
  made_[Signature(definition, inputs)] = node->id();
  return node;
}

// Adds an AddN of the fused op's result and the terms of the root that are not in the pattern.
absl::StatusOr<Output> PatternRewriter::AddOtherTerms(const PatternMatch& match, Node* fused) {
  const Node& root = *match.root;
  NodeMaker maker(graph_, root.name(), root.assigned_device_name());
  std::vector<tensorflow::NodeBuilder::NodeOut> terms;
  for (const Output& term : match.more_terms) terms.emplace_back(term.node, term.index);
  terms.emplace_back(fused, 0);
  tensorflow::NodeBuilder builder = maker.New("sum", "AddN");
  HPU_ASSIGN_OR_RETURN(Node * sum, maker.Add(builder.Input(terms)));
  return Output{sum, 0};
}

void PatternRewriter::Report(const Pattern& pattern, const PatternMatch& match, const Nodes& own) {
  std::vector<std::string_view> names;
  for (Node* node : match.nodes) {
    if (own.contains(node) && !node->IsConstant() && !absl::c_linear_search(names, node->name())) {
      names.push_back(node->name());
    }
  }
  const Node& root = *match.root;
  std::vector<std::string_view> ops;
  AddOps(pattern.fused, &ops);
  AddRewrite(
      report_, absl::StrCat(prefix_, root.name()), root.type_string(), "patterns",
      absl::StrCat(pattern.entry->name, ": ", absl::StrJoin(ops, ", "), " replaces ", absl::StrJoin(names, ", ")));
}

// Moves the outgoing edges of the replaced nodes, including control edges, to the fused op.
void PatternRewriter::MoveEdges(const Nodes& own, const std::vector<Moved>& moved, Node* fused, Output first) {
  for (const Node* node : InOrder(own)) {
    for (const Edge* edge : OutEdges(*node)) {
      Node* user = edge->dst();
      const int input = edge->dst_input();
      const Output from{edge->src(), edge->src_output()};
      if (own.contains(user) || user->IsSink()) continue;
      const bool control = edge->IsControlEdge();
      graph_->RemoveEdge(edge);
      if (control) {
        graph_->AddControlEdge(fused, user);
        continue;
      }
      const auto result = absl::c_find_if(moved, [&from](const Moved& candidate) { return candidate.from == from; });
      const Output to = result->to == 0 ? first : Output{fused, result->to};
      graph_->AddEdge(to.node, to.index, user, input);
    }
  }
}

void PatternRewriter::SetLevel(const Node& node) {
  if (levels_.empty()) return;
  int level = 0;
  for (const Edge* edge : node.in_edges()) level = std::max(level, Level(*edge->src()) + 1);
  for (const Edge* edge : node.out_edges()) {
    if (Level(*edge->dst()) > level || edge->dst()->IsSink()) continue;
    levels_.clear();  // recomputed on demand
    return;
  }
  levels_.resize(graph_->num_node_ids(), 0);
  levels_[node.id()] = level;
}

absl::StatusOr<bool> PatternRewriter::Replace(const Pattern& pattern, const PatternMatch& match) {
  Node* root = match.root;
  std::vector<Moved> moved;
  for (size_t i = 0; i < pattern.results.size(); ++i) {
    const Output* value = match.Find(pattern.results[i].name);
    if (value != nullptr) moved.push_back({{value->node, pattern.results[i].output}, static_cast<int>(i)});
  }
  const Nodes own = OwnNodes(match);
  std::vector<Output> inputs;
  added_shapes_.clear();
  const absl::StatusOr<tensorflow::NodeDef> definition = Define(pattern, match, pattern.fused, &inputs);
  const std::vector<Node*> waits_for = ControlInputs(match, own, inputs);
  if (!definition.ok() || !KeepsShape(match, *definition, inputs) || !KeepsUnmatchedUses(own, moved) ||
      MakesCycle(own, *root, inputs, waits_for)) {
    VLOG(2) << root->name() << " matches " << pattern.entry->name << " but is not replaced: "
            << (definition.ok() ? "the fused op would change the shape or create a cycle, or inner values have other "
                                  "consumers"
                                : definition.status().ToString());
    std::vector<int> made;  // input nodes that Define may have added
    for (const Output& input : inputs) made.push_back(input.node->id());
    RemoveUnused(graph_, std::move(made));
    return false;
  }
  Report(pattern, match, own);
  const auto made = waits_for.empty() ? made_.find(Signature(*definition, inputs)) : made_.end();
  Node* fused = made == made_.end() ? nullptr : graph_->FindNodeId(made->second);
  if (fused == nullptr) {
    HPU_ASSIGN_OR_RETURN(fused, Add(*definition, inputs, *root));
  }
  Output first{fused, 0};
  if (!match.more_terms.empty()) {
    HPU_ASSIGN_OR_RETURN(first, AddOtherTerms(match, fused));
  }
  for (Node* node : waits_for) graph_->AddControlEdge(node, fused);
  MoveEdges(own, moved, fused, first);
  SetLevel(*fused);
  if (first.node != fused) SetLevel(*first.node);

  std::vector<int> left;  // nodes that may have become unused
  for (const auto* nodes : {&match.shared, &match.trivial}) {
    for (const Node* node : *nodes) left.push_back(node->id());
  }
  for (const Node* node : InOrder(own)) {
    for (const Edge* edge : node->in_edges()) left.push_back(edge->src()->id());
  }
  for (Node* node : InOrder(own)) graph_->RemoveNode(node);
  RemoveUnused(graph_, std::move(left));
  return true;
}

}  // namespace hpu::passes
