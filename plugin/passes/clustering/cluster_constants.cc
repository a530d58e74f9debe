#include "plugin/passes/clustering/cluster_constants.h"

#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/passes/graph/graph_util.h"
#include "tensorflow/core/framework/node_def_util.h"

namespace hpu::passes {
namespace {

using tensorflow::Edge;
using tensorflow::Graph;
using tensorflow::Node;

constexpr size_t kLargestCopiedConstant = 64 << 10;  // size of the TensorProto in bytes

bool HasOtherUses(const Node& node) {
  for (const Edge* edge : node.out_edges()) {
    if (!edge->dst()->IsSink()) return true;
  }
  return false;
}

}  // namespace

bool IsFreeConstant(const Node& node) {
  if (!node.IsConstant()) return false;
  for (const Edge* edge : node.in_edges()) {
    if (!edge->src()->IsSource()) return false;
  }
  return true;
}

absl::Status CopyConstantsIntoClusters(Graph* graph) {
  std::vector<Node*> constants;
  for (Node* node : graph->op_nodes()) {
    if (IsFreeConstant(*node) && node->attrs().Find(kClusterAttr) == nullptr &&
        node->attrs().Find("value")->ByteSizeLong() <= kLargestCopiedConstant) {
      constants.push_back(node);
    }
  }
  for (Node* constant : constants) {
    std::map<std::string, std::vector<const Edge*>> uses;  // uses of the constant, by cluster
    for (const Edge* edge : OutEdges(*constant)) {
      std::string cluster;
      if (!edge->IsControlEdge() && tensorflow::TryGetNodeAttr(edge->dst()->attrs(), kClusterAttr, &cluster)) {
        uses[cluster].push_back(edge);
      }
    }
    for (const auto& [cluster, edges] : uses) {
      Node* copy = graph->CopyNode(constant);
      copy->set_name(graph->NewName(constant->name()));
      copy->AddAttr(kClusterAttr, cluster);
      for (const Edge* edge : edges) {
        Node* user = edge->dst();
        const int input = edge->dst_input();
        graph->RemoveEdge(edge);
        graph->AddEdge(copy, 0, user, input);
      }
    }
    if (!uses.empty() && !HasOtherUses(*constant)) graph->RemoveNode(constant);
  }
  return absl::OkStatus();
}

}  // namespace hpu::passes
