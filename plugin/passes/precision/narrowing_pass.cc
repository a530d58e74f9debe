#include "plugin/passes/precision/narrowing_pass.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"
#include "plugin/passes/graph/graph_util.h"
#include "plugin/passes/graph/node_maker.h"
#include "plugin/passes/graph/unused_nodes.h"
#include "plugin/passes/precision/narrowing_rules.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/graph/algorithm.h"

namespace hpu::passes {
namespace {

using tensorflow::DataType;
using tensorflow::Edge;
using tensorflow::Graph;
using tensorflow::Node;
using tensorflow::NodeDef;

struct NarrowTensor {
  Node* node = nullptr;
  int index = 0;
};

class Narrowing {
 public:
  // Node names in the report begin with `prefix`. `keeps_names`: nodes may be fetched by name.
  Narrowing(Graph* graph, const OpListData& list, const StaticShapes& shapes, std::string prefix, bool keeps_names,
            passes::Report* report)
      : graph_(graph),
        list_(list),
        shapes_(shapes),
        prefix_(std::move(prefix)),
        keeps_names_(keeps_names),
        report_(report) {}

  // Returns whether the graph changed.
  absl::StatusOr<bool> Run();

 private:
  absl::Status Visit(Node* node);
  // Whether all inputs whose type is in `attribute` have a narrow form.
  bool InputsFit(const Node& node, const std::string& attribute) const;
  // The narrow form of an output that is in narrow_. Adds the narrow form to the graph on first use.
  absl::StatusOr<NarrowTensor> NarrowOf(Node* node, int index);
  absl::StatusOr<Node*> Add(const NodeDef& definition, const Node& like);
  absl::StatusOr<Node*> AddCast(const std::string& name, DataType from, DataType to, const Node& like);
  // Connects the inputs of `from`, including control inputs, to `to`. Inputs whose type is in `attributes` use the
  // narrow form.
  absl::Status Connect(const Node& from, Node* to, const std::vector<std::string>& attributes);
  absl::Status Replace(Node* node, const std::vector<std::string>& attributes);
  absl::Status Split(Node* node, const std::vector<std::string>& attributes);
  // Moves the consumers of a node with several outputs to `outputs`, and replaces the node by an IdentityN of
  // `outputs`.
  absl::Status Spread(Node* node, const std::vector<NarrowTensor>& outputs);
  void Report(const Node& node, std::string_view what, DataType type);

  Graph* const graph_;
  const OpListData& list_;
  const StaticShapes& shapes_;
  const std::string prefix_;
  const bool keeps_names_;
  passes::Report* const report_;
  bool changed_ = false;
  // Narrow forms by wide output. The node of a narrow form is null until the form is added to the graph.
  absl::flat_hash_map<std::pair<const Node*, int>, NarrowTensor> narrow_;
  std::vector<int> wide_;  // ids of nodes that provide wide outputs to other consumers
};

using Arguments = google::protobuf::RepeatedPtrField<tensorflow::OpDef::ArgDef>;

// The type attribute of each of `count` inputs or outputs; empty if the type is fixed.
std::vector<std::string> TypeAttributes(const tensorflow::NameRangeMap& ranges, const Arguments& arguments, int count) {
  std::vector<std::string> attributes(count);
  for (const auto& argument : arguments) {
    const auto range = ranges.find(argument.name());
    if (range == ranges.end()) continue;
    for (int i = range->second.first; i < range->second.second; ++i) attributes[i] = argument.type_attr();
  }
  return attributes;
}

std::vector<std::string> InputAttributes(const Node& node) {
  tensorflow::NameRangeMap ranges;
  if (!tensorflow::NameRangesForNode(node, node.op_def(), &ranges, nullptr).ok()) ranges.clear();
  return TypeAttributes(ranges, node.op_def().input_arg(), node.num_inputs());
}

std::vector<std::string> OutputAttributes(const Node& node) {
  tensorflow::NameRangeMap ranges;
  if (!tensorflow::NameRangesForNode(node, node.op_def(), nullptr, &ranges).ok()) ranges.clear();
  return TypeAttributes(ranges, node.op_def().output_arg(), node.num_outputs());
}

void SetType(NodeDef* definition, const std::string& attribute, DataType type) {
  (*definition->mutable_attr())[attribute].set_type(type);
}

DataType NarrowAttr(const Node& node, const std::string& attribute) {
  return NarrowType(node.attrs().Find(attribute)->type());
}

bool Narrowing::InputsFit(const Node& node, const std::string& attribute) const {
  const std::vector<std::string> attributes = InputAttributes(node);
  for (const Edge* edge : node.in_edges()) {
    if (edge->IsControlEdge() || attributes[edge->dst_input()] != attribute) continue;
    if (!narrow_.contains({edge->src(), edge->src_output()})) return false;
  }
  return true;
}

bool HasNarrowKernel(const NodeDef& definition) {
  return tensorflow::KernelDefAvailable(tensorflow::DeviceType(kDeviceType), definition);
}

std::string NarrowName(Graph* graph, const Node& node) { return graph->NewName(absl::StrCat(node.name(), "/narrow")); }

void Narrowing::Report(const Node& node, std::string_view what, DataType type) {
  changed_ = true;
  AddRewrite(report_, absl::StrCat(prefix_, node.name()), node.type_string(), "narrow",
             absl::StrCat(what, " ", tensorflow::DataTypeString(type)));
}

absl::StatusOr<Node*> Narrowing::Add(const NodeDef& definition, const Node& like) {
  tensorflow::Status status;
  Node* node = graph_->AddNode(definition, &status);
  HPU_RETURN_IF_ERROR(status);
  node->set_assigned_device_name(like.assigned_device_name());
  return node;
}

absl::StatusOr<Node*> Narrowing::AddCast(const std::string& name, DataType from, DataType to, const Node& like) {
  NodeDef definition;
  definition.set_name(name);
  definition.set_op("Cast");
  definition.set_device(like.requested_device());
  SetType(&definition, "SrcT", from);
  SetType(&definition, "DstT", to);
  (*definition.mutable_attr())["Truncate"].set_b(false);
  return Add(definition, like);
}

absl::StatusOr<NarrowTensor> Narrowing::NarrowOf(Node* node, int index) {
  NarrowTensor& output = narrow_.at({node, index});
  if (output.node != nullptr) return output;
  const DataType type = NarrowType(node->output_type(0));
  if (node->IsConstant()) {
    tensorflow::Tensor value;
    HPU_RETURN_IF_ERROR(tensorflow::GetNodeAttr(node->attrs(), "value", &value));
    NodeDef definition = node->def();
    definition.set_name(NarrowName(graph_, *node));
    ToNarrow(value).AsProtoTensorContent((*definition.mutable_attr())["value"].mutable_tensor());
    SetType(&definition, "dtype", type);
    HPU_ASSIGN_OR_RETURN(output.node, Add(definition, *node));
  } else {
    HPU_ASSIGN_OR_RETURN(output.node, AddCast(NarrowName(graph_, *node), node->input_type(0), type, *node));
  }
  const NarrowTensor made = output;  // a copy, because Connect may rehash the map
  HPU_RETURN_IF_ERROR(Connect(*node, made.node, {}));
  return made;
}

absl::Status Narrowing::Connect(const Node& from, Node* to, const std::vector<std::string>& attributes) {
  const std::vector<std::string> inputs = InputAttributes(from);
  for (const Edge* edge : std::vector<const Edge*>(from.in_edges().begin(), from.in_edges().end())) {
    if (edge->IsControlEdge()) {
      graph_->AddControlEdge(edge->src(), to);
    } else if (absl::c_linear_search(attributes, inputs[edge->dst_input()])) {
      HPU_ASSIGN_OR_RETURN(const NarrowTensor narrow, NarrowOf(edge->src(), edge->src_output()));
      graph_->AddEdge(narrow.node, narrow.index, to, edge->dst_input());
    } else {
      graph_->AddEdge(edge->src(), edge->src_output(), to, edge->dst_input());
    }
  }
  return absl::OkStatus();
}

// Replaces a node that reads narrow values by a node with the same name and narrow types.
absl::Status Narrowing::Replace(Node* node, const std::vector<std::string>& attributes) {
  NodeDef definition = node->def();
  for (const std::string& attribute : attributes) SetType(&definition, attribute, NarrowAttr(*node, attribute));
  if (!HasNarrowKernel(definition)) return absl::OkStatus();
  HPU_ASSIGN_OR_RETURN(Node * narrow, Add(definition, *node));
  HPU_RETURN_IF_ERROR(Connect(*node, narrow, attributes));
  MoveConsumers(graph_, node, narrow);
  Report(*node, "reads", NarrowAttr(*node, attributes[0]));
  graph_->RemoveNode(node);
  return absl::OkStatus();
}

// Replaces a node that produces narrow values by a copy with narrow types, and a cast to the wide type with the old
// name.
absl::Status Narrowing::Split(Node* node, const std::vector<std::string>& attributes) {
  NodeDef definition = node->def();
  definition.set_name(NarrowName(graph_, *node));
  for (const std::string& attribute : attributes) SetType(&definition, attribute, NarrowAttr(*node, attribute));
  if (!HasNarrowKernel(definition)) return absl::OkStatus();
  HPU_ASSIGN_OR_RETURN(Node * narrow, Add(definition, *node));
  HPU_RETURN_IF_ERROR(Connect(*node, narrow, attributes));
  const std::vector<std::string> types = OutputAttributes(*node);
  std::vector<NarrowTensor> outputs;
  DataType type = tensorflow::DT_INVALID;
  for (int i = 0; i < node->num_outputs(); ++i) {
    if (!absl::c_linear_search(attributes, types[i])) {
      outputs.push_back({narrow, i});
      continue;
    }
    const std::string name =
        node->num_outputs() == 1 ? node->name() : graph_->NewName(absl::StrCat(node->name(), "/wide"));
    HPU_ASSIGN_OR_RETURN(Node * wide, AddCast(name, narrow->output_type(i), node->output_type(i), *node));
    graph_->AddEdge(narrow, i, wide, 0);
    narrow_[{wide, 0}] = {narrow, i};
    type = narrow->output_type(i);
    wide_.push_back(wide->id());
    outputs.push_back({wide, 0});
  }
  Report(*node, "computes in", type);
  if (node->num_outputs() > 1) return Spread(node, outputs);
  MoveConsumers(graph_, node, outputs[0].node);
  graph_->RemoveNode(node);
  return absl::OkStatus();
}

absl::Status Narrowing::Spread(Node* node, const std::vector<NarrowTensor>& outputs) {
  NodeDef definition;
  definition.set_name(node->name());
  definition.set_op("IdentityN");
  definition.set_device(node->requested_device());
  for (const DataType type : node->output_types()) {
    (*definition.mutable_attr())["T"].mutable_list()->add_type(type);
  }
  HPU_ASSIGN_OR_RETURN(Node * all, Add(definition, *node));
  for (int i = 0; i < static_cast<int>(outputs.size()); ++i) {
    graph_->AddEdge(outputs[i].node, outputs[i].index, all, i);
  }
  for (const Edge* edge : OutEdges(*node)) {
    if (edge->IsControlEdge()) {
      graph_->AddControlEdge(all, edge->dst(), /*allow_duplicates=*/true);
      continue;
    }
    const NarrowTensor& output = outputs[edge->src_output()];
    Node* user = edge->dst();
    const int input = edge->dst_input();
    graph_->RemoveEdge(edge);
    graph_->AddEdge(output.node, output.index, user, input);
  }
  wide_.push_back(all->id());
  graph_->RemoveNode(node);
  return absl::OkStatus();
}

// Whether all values of a cast fit in the narrow type.
bool CastFromNarrow(const Node& node) {
  if (node.type_string() != "Cast" || !IsWide(node.output_type(0))) return false;
  const DataType from = node.input_type(0);
  if (NarrowType(node.output_type(0)) == tensorflow::DT_FLOAT) {
    return from == tensorflow::DT_FLOAT || from == tensorflow::DT_BFLOAT16;
  }
  return from == tensorflow::DT_INT32 || from == tensorflow::DT_INT16 || from == tensorflow::DT_INT8 ||
         from == tensorflow::DT_BOOL;
}

absl::Status Narrowing::Visit(Node* node) {
  if (IsPinnedToOtherDevice(*node) || (node->has_assigned_device_name() && !IsOnHpu(*node))) return absl::OkStatus();
  if (CastFromNarrow(*node)) {
    const Edge* edge = nullptr;
    HPU_RETURN_IF_ERROR(node->input_edge(0, &edge));
    const bool same = node->input_type(0) == NarrowType(node->output_type(0));
    narrow_[{node, 0}] = same ? NarrowTensor{edge->src(), edge->src_output()} : NarrowTensor{};
    return absl::OkStatus();
  }
  if (node->IsConstant() && IsWide(node->output_type(0))) {
    tensorflow::Tensor value;
    HPU_RETURN_IF_ERROR(tensorflow::GetNodeAttr(node->attrs(), "value", &value));
    if (FitsNarrow(value)) narrow_[{node, 0}] = {};
    return absl::OkStatus();
  }
  std::vector<std::string> attributes;
  bool gives = false;
  for (const WideAttribute& attribute : WideAttributes(*node, list_)) {
    if (!InputsFit(*node, attribute.name)) continue;
    if (attribute.role == NarrowingRule::Role::kResult && !OutputsFitNarrow(*node, shapes_)) continue;
    attributes.push_back(attribute.name);
    gives |= attribute.role != NarrowingRule::Role::kOperand;
  }
  if (attributes.empty()) return absl::OkStatus();
  return gives ? Split(node, attributes) : Replace(node, attributes);
}

absl::StatusOr<bool> Narrowing::Run() {
  std::vector<Node*> order;
  tensorflow::GetReversePostOrder(*graph_, &order, tensorflow::NodeComparatorID(),
                                  [](const Edge& edge) { return !edge.src()->IsNextIteration(); });
  for (Node* node : order) {
    if (node->IsOp()) HPU_RETURN_IF_ERROR(Visit(node));
  }
  if (!keeps_names_) RemoveUnused(graph_, std::move(wide_));
  return changed_;
}

}  // namespace

absl::Status NarrowTypes(PassContext* context, const OpListData& list, const StaticShapes& shapes) {
  const bool is_session = context->function.empty();
  return Narrowing(context->graph->get(), list, shapes, /*prefix=*/"", is_session, &context->report).Run().status();
}

absl::Status NarrowLoopBodies(PassContext* context, const OpListData& list,
                              const FunctionRewriter::NodeFilter& filter) {
  const auto narrow = [&](Graph* graph, const FunctionRewriter::NodeFilter&,
                          const std::string& prefix) -> absl::StatusOr<bool> {
    if (prefix.empty()) return false;  // the graph itself is narrowed later
    const StaticShapes shapes(graph, context->library);
    return Narrowing(graph, list, shapes, prefix, /*keeps_names=*/false, &context->report).Run();
  };
  return FunctionRewriter(context, "_narrow", narrow).Run(filter);
}

}  // namespace hpu::passes
