#include "plugin/passes/clustering/constant_branch_pass.h"

#include <utility>
#include <vector>

#include "plugin/base/status_macros.h"
#include "plugin/passes/analysis/constant_origin.h"
#include "plugin/passes/functions/functional_control_flow.h"
#include "plugin/passes/functions/loop_functions.h"
#include "plugin/passes/graph/graph_util.h"
#include "plugin/passes/graph/node_maker.h"
#include "tensorflow/core/framework/node_def_util.h"

namespace hpu::passes {
namespace {

using tensorflow::Edge;
using tensorflow::Graph;
using tensorflow::Node;

// The definition of the Case: function 0 is the If's second one, for a predicate that is false.
tensorflow::NodeDef CaseOf(const Node& branch) {
  tensorflow::NodeDef definition = branch.def();
  definition.set_op(branch.type_string() == "StatelessIf" ? "StatelessCase" : "Case");
  std::vector<tensorflow::NameAttrList> functions = FunctionsOf(branch);
  std::swap(functions[0], functions[1]);
  for (const char* name : {"Tcond", "then_branch", "else_branch"}) definition.mutable_attr()->erase(name);
  tensorflow::AddNodeAttr("branches", functions, &definition);
  tensorflow::AddNodeAttr(kKnownIndexAttr, true, &definition);
  return definition;
}

absl::Status ReplaceBranch(PassContext* context, Node* branch) {
  Graph* const graph = context->graph->get();
  tensorflow::OutputTensor predicate = InputOf(*branch, 0);
  const NodeMaker maker(graph, branch->name(), branch->assigned_device_name());
  bool is_scalar = false;
  if (!tensorflow::TryGetNodeAttr(branch->attrs(), kScalarConditionAttr, &is_scalar) || !is_scalar) {
    tensorflow::NodeBuilder builder = maker.New("predicate", "ToBool");
    HPU_ASSIGN_OR_RETURN(Node * scalar, maker.Add(builder.Input(predicate.node, predicate.index)));
    scalar->AddAttr(kClusterAttr, branch->attrs().Find(kClusterAttr)->s());
    predicate = {scalar, 0};
  }
  HPU_ASSIGN_OR_RETURN(Node * index, maker.Cast("index", {predicate.node, predicate.index}, tensorflow::DT_INT32));
  index->AddAttr(kClusterAttr, branch->attrs().Find(kClusterAttr)->s());
  HPU_ASSIGN_OR_RETURN(Node * node, graph->AddNode(CaseOf(*branch)));
  node->set_assigned_device_name(branch->assigned_device_name());
  for (const Edge* edge : branch->in_edges()) {
    const bool is_predicate = edge->dst_input() == 0;
    graph->AddEdge(is_predicate ? index : edge->src(), is_predicate ? 0 : edge->src_output(), node, edge->dst_input());
  }
  MoveConsumers(graph, branch, node);
  AddRewrite(&context->report, branch->name(), branch->type_string(), "branches",
             "replaced by a Case, because shapes determine the predicate");
  graph->RemoveNode(branch);
  return absl::OkStatus();
}

}  // namespace

absl::Status ReplaceConstantBranches(PassContext* context) {
  const Graph& graph = **context->graph;
  std::vector<Node*> branches;
  for (Node* node : graph.op_nodes()) {
    const bool is_branch = node->IsCaseNode() || (node->IsIfNode() && node->input_type(0) == tensorflow::DT_BOOL);
    if (is_branch && node->attrs().Find(kClusterAttr) != nullptr) branches.push_back(node);
  }
  if (branches.empty()) return absl::OkStatus();
  const std::vector<Origin> origins = FindOrigins(graph);
  for (Node* branch : branches) {
    if (origins[InputOf(*branch, 0).node->id()] > Origin::kStatic) continue;
    if (branch->IsCaseNode()) {
      branch->AddAttr(kKnownIndexAttr, true);
    } else {
      HPU_RETURN_IF_ERROR(ReplaceBranch(context, branch));
    }
  }
  return absl::OkStatus();
}

}  // namespace hpu::passes
