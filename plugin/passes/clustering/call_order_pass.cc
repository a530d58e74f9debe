#include "plugin/passes/clustering/call_order_pass.h"

#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "plugin/passes/clustering/cluster_ancestors.h"
#include "plugin/passes/functions/function_rewriter.h"
#include "plugin/passes/graph/graph_util.h"

namespace hpu::passes {
namespace {

using tensorflow::Edge;
using tensorflow::Graph;
using tensorflow::Node;

bool IsStateful(const Node& node) { return node.op_def().is_stateful() && !node.IsArg() && !node.IsRetval(); }

// The stateful nodes that depend on a call and are in the same cluster. The search stops at stateful nodes that are not
// calls.
std::vector<Node*> StatefulUsers(const Node& call) {
  const std::string cluster = ClusterOf(call);
  std::vector<Node*> users;
  absl::flat_hash_set<const Node*> seen = {&call};
  std::vector<const Node*> open = {&call};
  while (!open.empty()) {
    const Node* node = open.back();
    open.pop_back();
    for (const Edge* edge : OutEdges(*node)) {
      Node* user = edge->dst();
      if (!user->IsOp() || user->IsNextIteration() || ClusterOf(*user) != cluster) continue;
      if (!seen.insert(user).second) continue;
      const bool stateful = IsStateful(*user);
      if (stateful) users.push_back(user);
      if (!stateful || user->IsPartitionedCall()) open.push_back(user);
    }
  }
  return users;
}

absl::StatusOr<bool> OrderCallsOf(Graph* graph, const FunctionRewriter::NodeFilter& filter) {
  std::vector<Node*> calls;
  for (Node* node : graph->op_nodes()) {
    if (node->IsPartitionedCall() && IsStateful(*node) && filter(*node)) calls.push_back(node);
  }
  bool changed = false;
  for (Node* call : calls) {
    // Null if the edge already exists.
    for (Node* user : StatefulUsers(*call)) changed |= graph->AddControlEdge(call, user) != nullptr;
  }
  return changed;
}

}  // namespace

absl::Status OrderCalls(PassContext* context) {
  const auto rewrite = [](Graph* graph, const FunctionRewriter::NodeFilter& filter, const std::string&) {
    return OrderCallsOf(graph, filter);
  };
  const auto in_cluster = [](const Node& node) { return node.attrs().Find(kClusterAttr) != nullptr; };
  return FunctionRewriter(context, "_ordered", rewrite).Run(in_cluster);
}

}  // namespace hpu::passes
