#include "plugin/passes/control_flow/inner_check_pass.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"
#include "plugin/passes/analysis/known_numbers.h"
#include "plugin/passes/analysis/loop_counters.h"
#include "plugin/passes/analysis/node_index_rule.h"
#include "plugin/passes/analysis/static_shapes.h"
#include "plugin/passes/analysis/value_tests.h"
#include "plugin/passes/analysis/variable_updates.h"
#include "plugin/passes/control_flow/inline_pass.h"
#include "plugin/passes/control_flow/inner_guards.h"
#include "plugin/passes/control_flow/inner_sites.h"
#include "plugin/passes/functions/extended_nodes.h"
#include "plugin/passes/functions/functional_control_flow.h"
#include "plugin/passes/functions/loop_functions.h"
#include "plugin/passes/graph/graph_util.h"
#include "plugin/passes/graph/node_maker.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/graph/algorithm.h"

namespace hpu::passes {
namespace {

using tensorflow::DataType;
using tensorflow::Edge;
using tensorflow::FunctionBody;
using tensorflow::FunctionLibraryDefinition;
using tensorflow::Graph;
using tensorflow::Node;
using tensorflow::NodeBuilder;
using tensorflow::OutputTensor;
using tensorflow::PartialTensorShape;
using tensorflow::Tensor;

// The outputs of a loop or branch that hold a site's indices and sizes.
struct Outputs {
  int indices;
  int sizes = -1;  // -1: the site's sizes are known
};

Tensor True() {
  Tensor value(tensorflow::DT_BOOL, {});
  value.scalar<bool>()() = true;
  return value;
}

// The node that puts a constant for `node` into the frame and branch of `node`; null if the graph has no lowered
// control flow.
Node* AnchorOf(const Graph& graph, const Node& node) {
  return HasLoweredControlFlow(graph) && node.num_inputs() > 0 ? InputOf(node, 0).node : nullptr;
}

using NameSet = absl::flat_hash_set<std::string>;

// Adds the ops that stand for sites after a loop or branch.
class Places {
 public:
  Places(Graph* graph, Node* node)
      : graph_(graph),
        node_(node),
        maker_(graph, node->name(), node->requested_device(), HasLoweredControlFlow(*graph) ? node : nullptr) {
    for (const Edge* edge : node->out_edges()) {
      if (edge->dst()->IsOp()) users_.push_back(edge->dst());
    }
  }

  // What uses a result of the loop or branch waits for the check.
  absl::Status Add(const IndexSite& site, const Outputs& outputs) {
    NodeBuilder::NodeOut sizes(node_, outputs.sizes);
    if (outputs.sizes < 0) {
      HPU_ASSIGN_OR_RETURN(Node * constant, maker_.Constant("habana_check/sizes", SizesTensor(site.sizes)));
      sizes = NodeBuilder::NodeOut(constant, 0);
    }
    NodeBuilder builder(NameFor(site.node->name()), kInnerIndicesOp, graph_->op_registry());
    builder.Device(node_->requested_device()).Input(node_, outputs.indices).Input(sizes);
    builder.Attr("kind", checks::NameOf(site.rule.kind)).Attr("axis", site.rule.axis);
    return Add(site.node, builder);
  }

  // `output`: the output that holds the test's result.
  absl::Status Add(const ValueSite& site, int output) {
    NodeBuilder builder(NameFor(site.node->name()), kInnerValuesOp, graph_->op_registry());
    builder.Device(node_->requested_device()).Input(node_, output).Attr("code", site.code).Attr("error", site.error);
    return Add(site.node, builder);
  }

  // Call after the last Add.
  absl::Status Finish(const NameSet& control_results) {
    Order();
    // TensorFlow removes what precedes no result.
    if (!control_results.contains(node_->name())) return absl::OkStatus();
    std::vector<Node*> places;
    for (const auto& [checked, place] : places_) places.push_back(place);
    return MoveName(graph_, node_, places);
  }

 private:
  // Makes the check of an op wait for the checks of the ops on which it depends, so that the first error is raised.
  void Order() const {
    if (places_.size() < 2) return;
    for (const auto& [later, place] : places_) {
      absl::flat_hash_set<const Node*> ancestors;
      std::vector<const Node*> open = {later};
      while (!open.empty()) {
        const Node* const node = open.back();
        open.pop_back();
        for (const Edge* edge : node->in_edges()) {
          if (ancestors.insert(edge->src()).second) open.push_back(edge->src());
        }
      }
      for (const auto& [earlier, other] : places_) {
        if (ancestors.contains(earlier)) graph_->AddControlEdge(other, place);
      }
    }
  }

  // `checked`: the op in the function.
  absl::Status Add(const Node* checked, NodeBuilder& builder) {
    Node* place = nullptr;
    HPU_RETURN_IF_ERROR(builder.Finalize(graph_, &place));
    for (Node* user : users_) graph_->AddControlEdge(place, user);
    places_.emplace_back(checked, place);
    return absl::OkStatus();
  }

  // The error names the op in the function, as on the CPU.
  std::string NameFor(const std::string& op) const {
    const bool taken = absl::c_any_of(graph_->op_nodes(), [&](const Node* node) { return node->name() == op; });
    return taken ? graph_->NewName(op) : op;
  }

  Graph* const graph_;
  Node* const node_;
  const NodeMaker maker_;
  std::vector<Node*> users_;
  std::vector<std::pair<const Node*, Node*>> places_;  // the op in the function, and the op that stands for it
};

// Returns a tensor with the value of `value` that is computed after `after`, which may be null.
absl::StatusOr<NodeBuilder::NodeOut> WaitFor(Node* after, NodeBuilder::NodeOut value, const NodeMaker& maker) {
  if (after == nullptr) return value;
  NodeBuilder builder = maker.New("result", "Identity");
  HPU_ASSIGN_OR_RETURN(Node * last, maker.Add(builder.Input(value).ControlInput(after)));
  return NodeBuilder::NodeOut(last, 0);
}

// Adds values to a loop. The loop's old outputs keep their places.
class LoopCarrier {
 public:
  LoopCarrier(Graph* graph, Node* loop, FunctionBody* body, FunctionBody* condition)
      : graph_(graph),
        loop_(loop),
        body_(body),
        condition_(condition),
        in_body_(body->graph, absl::StrCat(loop->name(), "/habana_check"), ""),
        outside_(graph, absl::StrCat(loop->name(), "/habana_check"), loop->requested_device(),
                 AnchorOf(*graph, *loop)) {}

  // Adds a value that is `initial` before the loop. Sets *argument to the value at the start of an iteration, and
  // returns the number of the value.
  absl::StatusOr<int> Add(const Tensor& initial, Node** argument) {
    const int number = static_cast<int>(loop_->num_inputs() + initial_.size());
    HPU_ASSIGN_OR_RETURN(Node * constant, outside_.Constant("initial", initial));
    initial_.push_back(constant);
    results_.push_back({initial.dtype(), initial.shape()});
    HPU_ASSIGN_OR_RETURN(*argument, AddArgument(body_->graph, number, initial.dtype()));
    HPU_ASSIGN_OR_RETURN(Node * in_condition, AddArgument(condition_->graph, number, initial.dtype()));
    in_condition_.push_back(in_condition);
    return number;
  }

  // Sets the value at the end of an iteration. `after`: a node that runs before; may be null.
  absl::Status Return(int number, Node* value, Node* after) {
    HPU_ASSIGN_OR_RETURN(const NodeBuilder::NodeOut last, WaitFor(after, value, in_body_));
    return AddResult(body_->graph, number, last);
  }

  // Ends the loop when the value `number`, a boolean, is false.
  absl::Status EndIfFalse(int number) {
    return passes::EndIfFalse(condition_, in_condition_[number - loop_->num_inputs()]);
  }

  // Replaces the loop by one with the new values, and returns it.
  absl::StatusOr<Node*> Finish(FunctionLibraryDefinition* library) {
    HPU_RETURN_IF_ERROR(SetFunction(loop_, "body", *body_, "_checked", library));
    HPU_RETURN_IF_ERROR(SetFunction(loop_, "cond", *condition_, "_checked", library));
    return Extend(graph_, loop_, initial_, results_);
  }

  const NodeMaker& in_body() const { return in_body_; }

 private:
  Graph* const graph_;
  Node* const loop_;
  FunctionBody* const body_;
  FunctionBody* const condition_;
  const NodeMaker in_body_;
  const NodeMaker outside_;
  std::vector<Node*> initial_;
  std::vector<NewOutput> results_;  // the types and shapes of the new values
  std::vector<Node*> in_condition_;
};

// Moves the checks of one loop behind the loop.
class LoopChecks {
 public:
  LoopChecks(Graph* graph, Node* loop, FunctionBody* body, FunctionBody* condition, Sites sites, ValueTests* tests)
      : graph_(graph), body_(body), sites_(std::move(sites)), tests_(tests), carrier_(graph, loop, body, condition) {}

  // `counted`: the number of iterations does not depend on data. `updates`: the loop updates variables.
  absl::Status Run(bool counted, bool updates, const NameSet& control_results, FunctionLibraryDefinition* library) {
    const NodeMaker& maker = carrier_.in_body();
    HPU_ASSIGN_OR_RETURN(const int number, carrier_.Add(True(), &passed_));
    std::vector<NodeBuilder::NodeOut> sizes;
    std::vector<InnerTest> inner;
    for (const IndexSite& site : sites_.indices) {
      HPU_ASSIGN_OR_RETURN(sizes.emplace_back(), SizesOf(site, maker));
      HPU_ASSIGN_OR_RETURN(Node * test, TestOf(site, sizes.back(), maker));
      inner.push_back({site.node, test});
    }
    for (const ValueSite& site : sites_.values) {
      HPU_ASSIGN_OR_RETURN(Node * test, TestOf(site, maker, tests_));
      inner.push_back({site.node, test});
    }
    Node* all = passed_;
    for (const InnerTest& test : inner) {
      HPU_ASSIGN_OR_RETURN(all, maker.Binary("passes", "LogicalAnd", all, test.passes));
    }
    if (updates) {
      HPU_RETURN_IF_ERROR(GuardInnerUpdates(body_->graph, passed_, inner, library));
      HPU_ASSIGN_OR_RETURN(after_, AfterEffects(body_->graph));
    }
    std::vector<Outputs> outputs;
    for (size_t i = 0; i < sites_.indices.size(); ++i) {
      const IndexSite& site = sites_.indices[i];
      Outputs& output = outputs.emplace_back();
      HPU_ASSIGN_OR_RETURN(output.indices,
                           Keep(UnusedIndices(site), NodeBuilder::NodeOut(site.indices.node, site.indices.index)));
      if (site.sizes.empty()) {
        HPU_ASSIGN_OR_RETURN(output.sizes, Keep(UnusedSizes(site), sizes[i]));
      }
    }
    std::vector<int> tests;
    for (size_t i = 0; i < sites_.values.size(); ++i) {
      HPU_ASSIGN_OR_RETURN(tests.emplace_back(), Keep(True(), inner[sites_.indices.size() + i].passes));
    }
    HPU_RETURN_IF_ERROR(carrier_.Return(number, all, after_));
    if (!counted) HPU_RETURN_IF_ERROR(carrier_.EndIfFalse(number));
    HPU_ASSIGN_OR_RETURN(Node * loop, carrier_.Finish(library));
    if (updates) SetGuardInput(loop, number);
    Places places(graph_, loop);
    for (size_t i = 0; i < outputs.size(); ++i) HPU_RETURN_IF_ERROR(places.Add(sites_.indices[i], outputs[i]));
    for (size_t i = 0; i < tests.size(); ++i) HPU_RETURN_IF_ERROR(places.Add(sites_.values[i], tests[i]));
    return places.Finish(control_results);
  }

 private:
  // Adds a loop value that takes the value of `current` until a test has failed.
  absl::StatusOr<int> Keep(const Tensor& initial, NodeBuilder::NodeOut current) {
    Node* before = nullptr;
    HPU_ASSIGN_OR_RETURN(const int number, carrier_.Add(initial, &before));
    NodeBuilder select = carrier_.in_body().New("kept", "SelectV2");
    HPU_ASSIGN_OR_RETURN(Node * kept, carrier_.in_body().Add(select.Input(passed_).Input(current).Input(before)));
    HPU_RETURN_IF_ERROR(carrier_.Return(number, kept, after_));
    return number;
  }

  Graph* const graph_;
  FunctionBody* const body_;
  const Sites sites_;
  ValueTests* const tests_;
  LoopCarrier carrier_;
  Node* passed_ = nullptr;  // in the body: whether all tests of earlier iterations passed
  Node* after_ = nullptr;   // in the body: runs after all effects; null if there are none
};

using Functions = std::vector<std::unique_ptr<FunctionBody>>;

// A function of a loop or branch, with its sites.
struct CheckedFunction {
  CheckedFunction(FunctionBody* body, const FunctionLibraryDefinition* library)
      : body(body), shapes(body->graph, library), tests(body->graph, &shapes) {}

  FunctionBody* const body;
  LazyShapes shapes;
  ValueTests tests;
  Sites sites;
  bool updates = false;  // the function updates variables
};

// Moves the checks of an If or a Case behind it. The branches that do not run return indices in range.
class BranchChecks {
 public:
  BranchChecks(Graph* graph, Node* branch, const Functions& functions,
               const std::vector<std::unique_ptr<CheckedFunction>>& checked)
      : graph_(graph), branch_(branch), functions_(functions), checked_(checked) {}

  absl::Status Run(const NameSet& control_results, FunctionLibraryDefinition* library) {
    std::vector<Node*> inputs;
    const bool updates = absl::c_any_of(checked_, [](const auto& function) { return function->updates; });
    for (size_t i = 0; i < functions_.size(); ++i) HPU_RETURN_IF_ERROR(AddChecks(i, updates, library));
    if (updates) {
      const NodeMaker outside(graph_, absl::StrCat(branch_->name(), "/habana_check"), branch_->requested_device(),
                              AnchorOf(*graph_, *branch_));
      HPU_ASSIGN_OR_RETURN(inputs.emplace_back(), outside.Constant("enabled", True()));
    }
    HPU_RETURN_IF_ERROR(SetBranches(branch_, functions_, "_checked", library));
    HPU_ASSIGN_OR_RETURN(Node * branch, Extend(graph_, branch_, inputs, results_));
    if (updates) SetGuardInput(branch, branch->num_inputs() - 1);
    Places places(graph_, branch);
    for (const auto& [site, output] : outputs_) HPU_RETURN_IF_ERROR(places.Add(*site, output));
    for (const auto& [site, output] : values_) HPU_RETURN_IF_ERROR(places.Add(*site, output));
    return places.Finish(control_results);
  }

 private:
  // Adds the tests and results for the sites of a branch. `updates`: any branch updates variables.
  absl::Status AddChecks(size_t branch, bool updates, FunctionLibraryDefinition* library) {
    CheckedFunction& function = *checked_[branch];
    Graph* const graph = function.body->graph;
    std::vector<InnerTest> inner;
    std::vector<std::pair<const IndexSite*, NodeBuilder::NodeOut>> sizes;
    for (const IndexSite& site : function.sites.indices) {
      const NodeMaker maker = MakerFor(site.node, branch);
      HPU_ASSIGN_OR_RETURN(const NodeBuilder::NodeOut bounds, SizesOf(site, maker));
      sizes.emplace_back(&site, bounds);
      site.node->AddAttr(kInRangeAttr, true);
      if (!function.updates) continue;
      HPU_ASSIGN_OR_RETURN(Node * test, TestOf(site, bounds, maker));
      inner.push_back({site.node, test});
    }
    std::vector<std::pair<const ValueSite*, Node*>> values;
    for (const ValueSite& site : function.sites.values) {
      HPU_ASSIGN_OR_RETURN(Node * test, TestOf(site, MakerFor(site.node, branch), &function.tests));
      inner.push_back({site.node, test});
      values.emplace_back(&site, test);
    }
    Node* after = nullptr;
    if (updates) {
      HPU_ASSIGN_OR_RETURN(Node * enabled, AddArgument(graph, branch_->num_inputs() - 1, tensorflow::DT_BOOL));
      if (function.updates) HPU_RETURN_IF_ERROR(GuardInnerUpdates(graph, enabled, inner, library));
      HPU_ASSIGN_OR_RETURN(after, AfterEffects(graph));
    }
    after_.push_back(after);
    for (const auto& [site, bounds] : sizes) {
      Outputs& output = outputs_.emplace_back(site, Outputs()).second;
      HPU_ASSIGN_OR_RETURN(
          output.indices,
          AddResults(branch, NodeBuilder::NodeOut(site->indices.node, site->indices.index), UnusedIndices(*site)));
      if (site->sizes.empty()) {
        HPU_ASSIGN_OR_RETURN(output.sizes, AddResults(branch, bounds, UnusedSizes(*site)));
      }
    }
    for (const auto& [site, test] : values) {
      HPU_ASSIGN_OR_RETURN(const int number, AddResults(branch, test, True()));
      values_.emplace_back(site, number);
    }
    return absl::OkStatus();
  }

  NodeMaker MakerFor(const Node* node, size_t branch) const {
    return NodeMaker(functions_[branch]->graph, absl::StrCat(node->name(), "/habana_check"), "");
  }

  // Adds a result to all branches: `value` to the one with the given number, and `other` to the others.
  absl::StatusOr<int> AddResults(size_t branch, NodeBuilder::NodeOut value, const Tensor& other) {
    const int number = branch_->num_outputs() + static_cast<int>(results_.size());
    for (size_t i = 0; i < functions_.size(); ++i) {
      Graph* const graph = functions_[i]->graph;
      const NodeMaker maker(graph, "habana_check", "");
      NodeBuilder::NodeOut result = value;
      if (i != branch) {
        HPU_ASSIGN_OR_RETURN(Node * constant, maker.Constant("unused", other));
        result = NodeBuilder::NodeOut(constant, 0);
      }
      HPU_ASSIGN_OR_RETURN(const NodeBuilder::NodeOut last, WaitFor(i == branch ? after_[i] : nullptr, result, maker));
      HPU_RETURN_IF_ERROR(AddResult(graph, number, last));
    }
    results_.push_back({other.dtype(), other.shape()});
    return number;
  }

  Graph* const graph_;
  Node* const branch_;
  const Functions& functions_;
  const std::vector<std::unique_ptr<CheckedFunction>>& checked_;
  std::vector<NewOutput> results_;
  std::vector<Node*> after_;  // in each branch: runs after all effects; null if there are none
  std::vector<std::pair<const IndexSite*, Outputs>> outputs_;
  std::vector<std::pair<const ValueSite*, int>> values_;
};

void SetAttr(Node* node, const char* name, const PartialTensorShape& shape) {
  node->ClearAttr(name);
  node->AddAttr(name, std::vector<PartialTensorShape>{shape});
}

// Gives an argument of a function of `node` the shape `declared`, or the shape of its variable. `shapes`: of the graph
// of `node`.
void SetShape(const Node& node, int input, DataType type, const PartialTensorShape& declared,
              const StaticShapes& shapes, Node* argument) {
  if (type == tensorflow::DT_RESOURCE) {
    const OutputTensor handle = InputOf(node, input);
    const auto [shape, variable_type] = shapes.Variable(*handle.node, handle.index);
    if (variable_type == tensorflow::DT_INVALID) return;
    SetAttr(argument, "_handle_shapes", shape);
    argument->ClearAttr("_handle_dtypes");
    argument->AddAttr("_handle_dtypes", std::vector<DataType>{variable_type});
  } else if (type != tensorflow::DT_VARIANT) {
    SetAttr(argument, "_output_shapes", declared);
  }
}

// Declares the shape of the indices that the body of a loop pops from its argument `list`. TensorFlow infers no shapes
// of elements of a list that a function receives. `shapes`: of the loop's graph.
absl::Status DeclareIndices(const Node& loop, int input, const StaticShapes& shapes, const Node& list, Graph* body) {
  OutputTensor origin = InputOf(loop, input);
  while (origin.node->IsWhileNode()) origin = InputOf(*origin.node, origin.index);
  const auto [shape, type] = shapes.Variable(*origin.node, origin.index);
  if (!shape.IsFullyDefined() || !checks::IsIndexType(type)) return absl::OkStatus();
  std::vector<const Edge*> pops;
  for (const Edge* edge : list.out_edges()) {
    if (edge->dst()->type_string() == "TensorListPopBack") pops.push_back(edge);
  }
  for (const Edge* edge : pops) {
    Node* const pop = edge->dst();
    std::vector<const Edge*> uses;
    absl::c_copy_if(pop->out_edges(), std::back_inserter(uses), [](const Edge* use) { return use->src_output() == 1; });
    const NodeMaker maker(body, absl::StrCat(pop->name(), "/habana_check"), "");
    NodeBuilder builder = maker.New("element", "EnsureShape");
    HPU_ASSIGN_OR_RETURN(Node * element, maker.Add(builder.Input(pop, 1).Attr("shape", shape)));
    for (const Edge* use : uses) HPU_RETURN_IF_ERROR(body->UpdateEdge(element, 0, use->dst(), use->dst_input()));
  }
  return absl::OkStatus();
}

// The shapes that a loop declares for its values; unknown shapes if it declares none.
std::vector<PartialTensorShape> DeclaredShapes(const Node& loop) {
  std::vector<PartialTensorShape> declared;
  if (!tensorflow::GetNodeAttr(loop.attrs(), "output_shapes", &declared).ok() ||
      static_cast<int>(declared.size()) != loop.num_inputs()) {
    declared.assign(loop.num_inputs(), {});
  }
  return declared;
}

// Evaluates a loop's condition before the loop and at the end of the body, so that its ops can be checked there.
class ConditionMover {
 public:
  ConditionMover(Graph* graph, Node* loop, FunctionBody* condition, FunctionLibraryDefinition* library)
      : graph_(graph), loop_(loop), condition_(condition), library_(library) {}

  // Replaces the loop by one whose condition is an additional loop value, and returns it. Sets *first to the node that
  // evaluates the condition before the loop.
  absl::StatusOr<Node*> Run(Node** first) {
    HPU_ASSIGN_OR_RETURN(const std::unique_ptr<FunctionBody> body, LoopFunction(*loop_, "body", *library_));
    const int index = loop_->num_inputs();
    std::vector<OutputTensor> before, after;
    for (int i = 0; i < index; ++i) {
      before.push_back(InputOf(*loop_, i));
      after.push_back(InputOf(*body->ret_nodes[i], 0));
    }
    std::vector<Node*> earlier, effects;
    for (const Edge* edge : loop_->in_edges()) {
      if (edge->IsControlEdge() && edge->src()->IsOp()) earlier.push_back(edge->src());
    }
    HPU_ASSIGN_OR_RETURN(Node * last, AfterEffects(body->graph));
    if (last != nullptr) effects.push_back(last);
    HPU_ASSIGN_OR_RETURN(*first, EvaluateFirst(before, earlier));
    HPU_ASSIGN_OR_RETURN(Node * next, EvaluateNext(body->graph, after, effects));
    HPU_RETURN_IF_ERROR(AddArgument(body->graph, index, tensorflow::DT_BOOL).status());
    HPU_RETURN_IF_ERROR(AddResult(body->graph, index, next));
    HPU_ASSIGN_OR_RETURN(Node * value, AddArgument(condition_->graph, index, tensorflow::DT_BOOL));
    HPU_RETURN_IF_ERROR(condition_->graph->UpdateEdge(value, 0, condition_->ret_nodes[0], 0));
    RemoveOthers(value);
    HPU_RETURN_IF_ERROR(SetFunction(loop_, "body", *body, "_rotated", library_));
    HPU_RETURN_IF_ERROR(SetFunction(loop_, "cond", *condition_, "_rotated", library_));
    return Extend(graph_, loop_, {*first}, {{tensorflow::DT_BOOL, {}}});
  }

 private:
  // Adds the inputs, types and earlier nodes of a call of the condition.
  static NodeBuilder& SetArguments(const std::vector<OutputTensor>& values, const std::vector<Node*>& earlier,
                                   NodeBuilder& builder) {
    tensorflow::DataTypeVector types;
    std::vector<NodeBuilder::NodeOut> inputs;
    for (const OutputTensor& value : values) {
      types.push_back(value.node->output_type(value.index));
      inputs.emplace_back(value.node, value.index);
    }
    builder.Input(inputs).Attr("Tin", types).Attr("Tout", tensorflow::DataTypeVector{tensorflow::DT_BOOL});
    return builder.ControlInputs(earlier);
  }

  // A branch, because the checks of branches move out of these, so that the loop's cluster can hold the condition.
  absl::StatusOr<Node*> EvaluateFirst(const std::vector<OutputTensor>& values,
                                      const std::vector<Node*>& earlier) const {
    const NodeMaker maker(graph_, loop_->name(), loop_->requested_device(), AnchorOf(*graph_, *loop_));
    HPU_ASSIGN_OR_RETURN(Node * always, maker.Constant("always", True()));
    const tensorflow::NameAttrList function = FunctionsOf(*loop_)[0];
    const bool stateful = library_->Find(function.name())->signature().is_stateful();
    NodeBuilder builder = maker.New("condition", stateful ? "If" : "StatelessIf");
    builder.Input(always).Attr("then_branch", function).Attr("else_branch", function);
    return maker.Add(SetArguments(values, earlier, builder));
  }

  // Adds the nodes of the condition to the body. Returns a node with their result.
  absl::StatusOr<Node*> EvaluateNext(Graph* graph, const std::vector<OutputTensor>& values,
                                     const std::vector<Node*>& earlier) const {
    const NodeMaker maker(graph, loop_->name(), "");
    NodeBuilder builder = maker.New("condition", "StatefulPartitionedCall");
    builder.Attr("f", FunctionsOf(*loop_)[0]);
    HPU_ASSIGN_OR_RETURN(Node * call, maker.Add(SetArguments(values, earlier, builder)));
    NodeBuilder identity = maker.New("continues", "Identity");
    HPU_ASSIGN_OR_RETURN(Node * result, maker.Add(identity.Input(call)));
    HPU_RETURN_IF_ERROR(InlineCall(call, graph, *library_).status());
    return result;
  }

  // Removes the nodes of the condition that computed its old result.
  void RemoveOthers(const Node* value) const {
    std::vector<Node*> unused;
    for (Node* node : condition_->graph->op_nodes()) {
      if (!node->IsArg() && node != condition_->ret_nodes[0] && node != value) unused.push_back(node);
    }
    for (Node* node : unused) condition_->graph->RemoveNode(node);
  }

  Graph* const graph_;
  Node* const loop_;
  FunctionBody* const condition_;
  FunctionLibraryDefinition* const library_;
};

class Mover {
 public:
  explicit Mover(FunctionLibraryDefinition* library) : library_(library) {}

  absl::Status RunOutermost(Graph* graph, const std::function<bool(const Node&)>& filter,
                            const NameSet& control_results) {
    std::vector<Node*> nodes;
    for (Node* node : graph->op_nodes()) {
      if (HasOriginal(*node) || !GetsChecks(*node) || !filter(*node)) continue;
      KeepOriginal(node);
      nodes.push_back(node);
    }
    return Run(graph, nodes, control_results).status();
  }

 private:
  // Returns whether the graph of a loop or branch changed.
  absl::StatusOr<bool> RunInside(Graph* graph) {
    std::vector<Node*> nodes;
    for (Node* node : graph->op_nodes()) {
      if (GetsChecks(*node)) nodes.push_back(node);
    }
    return Run(graph, nodes, /*control_results=*/{});
  }

  // Returns whether the graph changed. `control_results`: names of nodes.
  absl::StatusOr<bool> Run(Graph* graph, const std::vector<Node*>& nodes, const NameSet& control_results) {
    if (nodes.empty()) return false;
    KnownNumbers known(graph, library_);
    LazyShapes shapes(graph, library_);
    bool changed = false;
    for (Node* node : nodes) {
      HPU_ASSIGN_OR_RETURN(const bool moved, node->IsWhileNode()
                                                 ? RunLoop(graph, node, control_results, &shapes, &known)
                                                 : RunBranch(graph, node, control_results, &shapes));
      changed |= moved;
    }
    if (changed) tensorflow::FixupSourceAndSinkEdges(graph);  // shape inference starts at the source
    return changed;
  }

  bool GetsChecks(const Node& node) const {
    if (!IsFunctionalControlFlow(node) || IsPinnedToOtherDevice(node)) return false;
    return absl::c_any_of(FunctionsOf(node),
                          [&](const tensorflow::NameAttrList& function) { return MayHaveSites(function, *library_); });
  }

  // Functions that a loop or branch calls have their sites in its graph.
  absl::Status InlineCallsWithSites(Graph* function) const {
    return InlineCalls(function, *library_, /*keep_names=*/true, [&](const Node& call) {
      const absl::StatusOr<tensorflow::NameAttrList> callee = CalledFunction(call.def());
      return callee.ok() && MayHaveSites(*callee, *library_);
    });
  }

  // Gives the arguments of a function of a loop the shapes that the loop declares.
  static absl::Status SetShapes(const Node& loop, FunctionBody* function, LazyShapes* shapes_outside) {
    const std::vector<PartialTensorShape> declared = DeclaredShapes(loop);
    const StaticShapes& shapes = shapes_outside->Get();
    for (int i = 0; i < loop.num_inputs(); ++i) {
      Node* const argument = function->arg_nodes[i];
      SetShape(loop, i, function->arg_types[i], declared[i], shapes, argument);
      if (function->arg_types[i] == tensorflow::DT_VARIANT)
        HPU_RETURN_IF_ERROR(DeclareIndices(loop, i, shapes, *argument, function->graph));
    }
    return absl::OkStatus();
  }

  // Moves the condition of a loop into its body if the condition has sites. Returns whether it did.
  absl::StatusOr<bool> MoveCondition(Graph* graph, Node** loop, LazyShapes* shapes_outside) {
    if (!MayHaveSites(FunctionsOf(**loop)[0], *library_)) return false;
    HPU_ASSIGN_OR_RETURN(const std::unique_ptr<FunctionBody> condition, LoopFunction(**loop, "cond", *library_));
    HPU_RETURN_IF_ERROR(SetShapes(**loop, condition.get(), shapes_outside));
    CheckedFunction checked(condition.get(), library_);
    if (condition->ret_types[0] != tensorflow::DT_BOOL ||
        FindSites(*condition->graph, &checked.shapes, &checked.tests).empty()) {
      return false;
    }
    Node* first = nullptr;
    HPU_ASSIGN_OR_RETURN(*loop, ConditionMover(graph, *loop, condition.get(), library_).Run(&first));
    HPU_RETURN_IF_ERROR(RunBranch(graph, first, /*control_results=*/{}, shapes_outside).status());
    return true;
  }

  absl::StatusOr<bool> RunLoop(Graph* graph, Node* loop, const NameSet& control_results, LazyShapes* shapes_outside,
                               KnownNumbers* known) {
    HPU_ASSIGN_OR_RETURN(const bool rotated, MoveCondition(graph, &loop, shapes_outside));
    const tensorflow::NameAttrList name = FunctionsOf(*loop)[1];
    HPU_ASSIGN_OR_RETURN(const std::unique_ptr<FunctionBody> body, LoopFunction(*loop, "body", *library_));
    HPU_RETURN_IF_ERROR(InlineCallsWithSites(body->graph));
    HPU_RETURN_IF_ERROR(SetShapes(*loop, body.get(), shapes_outside));
    HPU_ASSIGN_OR_RETURN(bool inner, RunInside(body->graph));
    inner |= rotated;
    CheckedFunction checked(body.get(), library_);
    Sites sites = FindSites(*body->graph, &checked.shapes, &checked.tests);
    HPU_ASSIGN_OR_RETURN(const std::unique_ptr<FunctionBody> condition, LoopFunction(*loop, "cond", *library_));
    if (sites.empty() || condition->ret_types[0] != tensorflow::DT_BOOL) {
      if (inner) HPU_RETURN_IF_ERROR(SetFunction(loop, "body", *body, "_checked", library_));
      return inner;
    }
    const LoopCounters counters(*loop, *condition, *body, known);
    const bool counted = counters.MaxIterations().has_value() || counters.LimitOfIterations() != nullptr;
    const bool updates = UpdatesVariables(name, *library_);
    HPU_RETURN_IF_ERROR(LoopChecks(graph, loop, body.get(), condition.get(), std::move(sites), &checked.tests)
                            .Run(counted, updates, control_results, library_));
    return true;
  }

  absl::StatusOr<bool> RunBranch(Graph* graph, Node* branch, const NameSet& control_results,
                                 LazyShapes* shapes_outside) {
    const std::vector<tensorflow::NameAttrList> names = FunctionsOf(*branch);
    HPU_ASSIGN_OR_RETURN(const Functions functions, BranchFunctions(*branch, *library_));
    bool inner = false, found = false;
    std::vector<std::unique_ptr<CheckedFunction>> checked;
    for (size_t i = 0; i < functions.size(); ++i) {
      FunctionBody& function = *functions[i];
      HPU_RETURN_IF_ERROR(InlineCallsWithSites(function.graph));
      for (size_t j = 0; j < function.arg_nodes.size(); ++j) {
        const int input = static_cast<int>(j) + 1;  // input 0 selects the branch
        SetShape(*branch, input, function.arg_types[j], shapes_outside->Get().InputShape(*branch, input),
                 shapes_outside->Get(), function.arg_nodes[j]);
      }
      HPU_ASSIGN_OR_RETURN(const bool changed, RunInside(function.graph));
      inner |= changed;
      CheckedFunction& added = *checked.emplace_back(std::make_unique<CheckedFunction>(&function, library_));
      added.sites = FindSites(*function.graph, &added.shapes, &added.tests);
      added.updates = UpdatesVariables(names[i], *library_);
      found |= !added.sites.empty();
    }
    if (found) {
      HPU_RETURN_IF_ERROR(BranchChecks(graph, branch, functions, checked).Run(control_results, library_));
    } else if (inner) {
      HPU_RETURN_IF_ERROR(SetBranches(branch, functions, "_checked", library_));
    }
    return found || inner;
  }

  FunctionLibraryDefinition* const library_;
};

}  // namespace

absl::Status MoveChecksOut(Graph* graph, const std::function<bool(const Node&)>& filter,
                           const absl::flat_hash_set<std::string>& control_results,
                           FunctionLibraryDefinition* library) {
  return Mover(library).RunOutermost(graph, filter, control_results);
}

}  // namespace hpu::passes
