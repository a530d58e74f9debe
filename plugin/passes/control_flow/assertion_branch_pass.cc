#include "plugin/passes/control_flow/assertion_branch_pass.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plugin/base/status_macros.h"
#include "plugin/compat/function_bodies.h"
#include "plugin/passes/functions/loop_functions.h"
#include "plugin/passes/graph/graph_util.h"
#include "plugin/passes/graph/settings.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/graph/node_builder.h"

namespace hpu::passes {
namespace {

using tensorflow::Edge;
using tensorflow::FunctionBody;
using tensorflow::Graph;
using tensorflow::Node;
using tensorflow::NodeBuilder;
using tensorflow::OutputTensor;

// Whether a node returns what it receives, or nothing.
bool PassesOn(const Node& node) {
  return node.IsArg() || node.IsRetval() || node.IsConstant() || node.IsIdentity() || node.type_string() == "NoOp";
}

// The only node of a function that is not trivial; null if there is none. nullopt if there are several.
std::optional<Node*> OnlyOp(const FunctionBody& function) {
  Node* found = nullptr;
  for (Node* node : function.graph->op_nodes()) {
    if (PassesOn(*node)) continue;
    if (found != nullptr) return std::nullopt;
    found = node;
  }
  return found;
}

// An If whose branch for a false condition only asserts the condition.
class AssertionBranch {
 public:
  // nullopt if the node is no such If.
  static std::optional<AssertionBranch> Find(Node* node, const tensorflow::FunctionLibraryDefinition& library);

  absl::Status Replace(Graph* graph) const;

 private:
  AssertionBranch(Node* branch, std::vector<std::unique_ptr<FunctionBody>> functions, Node* assertion)
      : branch_(branch), functions_(std::move(functions)), assertion_(assertion) {}

  // The If's input for an argument of its functions; nullopt if the node is no argument.
  std::optional<OutputTensor> InputFor(const FunctionBody& function, const Node* node) const;
  // The tensor outside the If for each of its results while the condition is true; nullopt if one has none.
  std::optional<std::vector<OutputTensor>> Results() const;

  Node* branch_;
  std::vector<std::unique_ptr<FunctionBody>> functions_;
  Node* assertion_;  // in the second function
};

std::optional<OutputTensor> AssertionBranch::InputFor(const FunctionBody& function, const Node* node) const {
  const int argument = node == nullptr ? -1 : LoopValueOf(function, node);
  if (argument < 0) return std::nullopt;
  return InputOf(*branch_, argument + 1);
}

std::optional<std::vector<OutputTensor>> AssertionBranch::Results() const {
  std::vector<OutputTensor> results;
  for (const Node* result : functions_[0]->ret_nodes) {
    const std::optional<OutputTensor> tensor = InputFor(*functions_[0], SourceOf(*result, 0));
    if (!tensor.has_value()) return std::nullopt;
    results.push_back(*tensor);
  }
  return results;
}

std::optional<AssertionBranch> AssertionBranch::Find(Node* node, const tensorflow::FunctionLibraryDefinition& library) {
  if (!node->IsIfNode() || node->input_type(0) != tensorflow::DT_BOOL) return std::nullopt;
  auto functions = BranchFunctions(*node, library);
  if (!functions.ok() || functions->size() != 2) return std::nullopt;
  const std::optional<Node*> if_true = OnlyOp(*(*functions)[0]), if_false = OnlyOp(*(*functions)[1]);
  if (if_true != std::optional<Node*>(nullptr) || !if_false.has_value() || *if_false == nullptr) return std::nullopt;
  if ((*if_false)->type_string() != kAssertOp) return std::nullopt;
  AssertionBranch branch(node, *std::move(functions), *if_false);
  const auto condition = branch.InputFor(*branch.functions_[1], SourceOf(**if_false, 0));
  const OutputTensor predicate = InputOf(*node, 0);
  const bool same = condition.has_value() && condition->node == predicate.node && condition->index == predicate.index;
  if (!same || !branch.Results().has_value()) return std::nullopt;
  for (int i = 1; i < (*if_false)->num_inputs(); ++i) {
    const Node* const source = SourceOf(**if_false, i);
    if (source == nullptr || !(source->IsArg() || source->IsConstant())) return std::nullopt;
  }
  return branch;
}

absl::Status AssertionBranch::Replace(Graph* graph) const {
  std::vector<NodeBuilder::NodeOut> data;
  for (int i = 1; i < assertion_->num_inputs(); ++i) {
    const Node* const source = SourceOf(*assertion_, i);
    if (const auto input = InputFor(*functions_[1], source); input.has_value()) {
      data.emplace_back(*input);
      continue;
    }
    tensorflow::NodeDef constant = source->def();
    constant.set_name(graph->NewName(branch_->name()));
    constant.clear_input();
    constant.set_device(branch_->requested_device());
    HPU_ASSIGN_OR_RETURN(Node * copy, graph->AddNode(constant));
    data.emplace_back(copy, 0);
  }
  const std::vector<OutputTensor> results = *Results();
  const OutputTensor condition = InputOf(*branch_, 0);
  const std::string name = branch_->name(), device = branch_->requested_device();
  std::vector<Node*> before;
  for (const Edge* edge : branch_->in_edges()) {
    if (edge->IsControlEdge() && edge->src()->IsOp()) before.push_back(edge->src());
  }
  struct Use {
    Node* node;
    int input;  // Graph::kControlSlot for a control edge
    int result;
  };
  std::vector<Use> uses;
  for (const Edge* edge : OutEdges(*branch_)) {
    if (edge->dst()->IsOp()) uses.push_back({edge->dst(), edge->dst_input(), edge->src_output()});
  }
  int64_t summarize = 0;
  HPU_RETURN_IF_ERROR(tensorflow::GetNodeAttr(assertion_->attrs(), "summarize", &summarize));
  // The function's control results name the If.
  graph->RemoveNode(branch_);
  NodeBuilder builder(name, kAssertOp);
  builder.Input(NodeBuilder::NodeOut(condition)).Input(data).Attr("summarize", summarize).ControlInputs(before);
  Node* assertion = nullptr;
  HPU_RETURN_IF_ERROR(builder.Device(device).Finalize(graph, &assertion));
  // Errors name the op as in a branch that TensorFlow has inlined.
  assertion->set_original_node_names({assertion_->name()});
  assertion->set_original_func_names({SignatureOf(*functions_[1]).name()});
  assertion->SetStackTrace(assertion_->GetStackTrace());
  for (const Use& use : uses) {
    graph->AddControlEdge(assertion, use.node);
    if (use.input == Graph::kControlSlot) continue;
    graph->AddEdge(results[use.result].node, results[use.result].index, use.node, use.input);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status UnwrapAssertions(Graph* graph, const tensorflow::FunctionLibraryDefinition& library) {
  std::vector<Node*> branches;
  for (Node* node : graph->op_nodes()) {
    if (node->IsIfNode()) branches.push_back(node);
  }
  for (Node* node : branches) {
    const std::optional<AssertionBranch> branch = AssertionBranch::Find(node, library);
    if (branch.has_value()) HPU_RETURN_IF_ERROR(branch->Replace(graph));
  }
  return absl::OkStatus();
}

tensorflow::Status RunAssertionBranchPass(const tensorflow::GraphOptimizationPassOptions& options) {
  if (!MayUseHpu(options) || Settings::FromEnvironment(options.session_options).clustering == Clustering::kOff) {
    return tensorflow::OkStatus();
  }
  return UnwrapAssertions(options.graph->get(), *options.flib_def);
}

}  // namespace hpu::passes
