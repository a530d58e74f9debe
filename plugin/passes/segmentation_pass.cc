#include "plugin/passes/segmentation_pass.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/base/casts.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "plugin/passes/cluster_borders.h"
#include "plugin/passes/cluster_constants.h"
#include "plugin/passes/graph_util.h"
#include "plugin/passes/levels.h"
#include "plugin/passes/order_graph.h"
#include "tensorflow/compiler/jit/deadness_analysis.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "tensorflow/core/framework/node_def_util.h"

namespace hpu::passes {
namespace {

using tensorflow::DeadnessAnalysis;
using tensorflow::Graph;
using tensorflow::Node;

std::atomic<int64_t>& ClustersMade() {
  static auto* made = new std::atomic<int64_t>(0);
  return *made;
}

// Tells apart the nodes that no cluster may hold together.
class Classifier {
 public:
  static absl::StatusOr<Classifier> Make(const Graph& graph, const OrderGraph& order) {
    Classifier classifier(order);
    // The analysis costs 20 µs a node, and without Switch and Merge every node is alive.
    if (HasLoweredControlFlow(graph)) TF_RETURN_IF_ERROR(DeadnessAnalysis::Run(graph, &classifier.deadness_));
    return classifier;
  }

  absl::StatusOr<int> Classify(Node* node) {
    uintptr_t predicate = 0;
    if (deadness_ != nullptr) {
      TF_ASSIGN_OR_RETURN(const auto found, deadness_->GetPredicateFor(node, Graph::kControlSlot));
      predicate = absl::bit_cast<uintptr_t>(found);
    }
    // A mandatory cluster has a class to itself.
    const int alone = node->attrs().Find(kMustCompileAttr) != nullptr ? node->id() : -1;
    const auto key = std::make_tuple(node->assigned_device_name_index(), order_->FrameOf(node->id()), predicate, alone);
    return classes_.emplace(key, static_cast<int>(classes_.size())).first->second;
  }

 private:
  explicit Classifier(const OrderGraph& order) : order_(&order) {}

  const OrderGraph* order_;
  std::unique_ptr<DeadnessAnalysis> deadness_;
  std::map<std::tuple<int, int, uintptr_t, int>, int> classes_;  // numbered as they come: pointers do not matter
};

// Ops that do no work worth a launch of its own.
bool IsTrivial(const Node& node) {
  static const auto* ops =
      new absl::flat_hash_set<std::string>({"AssignVariableOp", "Const", "Identity", "IdentityN", "NoOp",
                                            "PreventGradient", "ReadVariableOp", "StopGradient", "VarIsInitializedOp"});
  if (ops->contains(node.type_string())) return true;
  // Bookkeeping with sizes runs on the host, where int32 tensors are.
  const auto is_int32 = [](tensorflow::DataType type) { return type == tensorflow::DT_INT32; };
  const bool metadata = tensorflow::XlaOpRegistry::IsMetadataOp(node.type_string());
  return node.num_outputs() > 0 && std::all_of(node.output_types().begin(), node.output_types().end(), is_int32) &&
         (metadata || std::all_of(node.input_types().begin(), node.input_types().end(), is_int32));
}

// The nodes of each cluster, in topological order.
using Members = std::vector<std::vector<Node*>>;

Members CollectMembers(const Graph& graph, const OrderGraph& order, const std::vector<int>& clusters) {
  std::map<int, std::vector<Node*>> members;
  std::vector<int> first;
  for (const int v : order.TopologicalOrder()) {
    if (clusters[v] < 0) continue;
    std::vector<Node*>& nodes = members[clusters[v]];
    if (nodes.empty()) first.push_back(clusters[v]);
    nodes.push_back(graph.FindNodeId(v));
  }
  Members result;
  for (const int cluster : first) result.push_back(std::move(members[cluster]));
  return result;
}

// Cuts clusters that are too large into pieces that follow each other in topological order.
Members CutToSize(Members clusters, int64_t largest) {
  if (largest <= 0) return clusters;
  Members result;
  for (const std::vector<Node*>& nodes : clusters) {
    for (size_t begin = 0; begin < nodes.size(); begin += largest) {
      const size_t end = std::min(nodes.size(), begin + static_cast<size_t>(largest));
      result.emplace_back(nodes.begin() + begin, nodes.begin() + end);
    }
  }
  return result;
}

bool IsMandatory(const std::vector<Node*>& nodes) { return nodes.front()->attrs().Find(kMustCompileAttr) != nullptr; }

bool WorthALaunch(const std::vector<Node*>& nodes, int64_t smallest) {
  if (IsMandatory(nodes)) return true;
  int64_t working = 0;
  for (const Node* node : nodes) {
    // A loop is worth one whatever it holds.
    if (node->IsWhileNode()) return true;
    if (!IsTrivial(*node) && ++working >= smallest) return true;
  }
  return false;
}

std::string NextName(const PassContext& context, int* counter) {
  std::string name;
  do {
    name = absl::StrCat(kClusterPrefix, context.graph_name, "_", (*counter)++);
  } while (context.library->Find(name) != nullptr);
  return name;
}

absl::StatusOr<std::vector<int>> ClassifyCandidates(const Graph& graph, const OrderGraph& order) {
  TF_ASSIGN_OR_RETURN(Classifier classifier, Classifier::Make(graph, order));
  std::vector<int> classes(order.size(), kNoClass);
  for (Node* node : graph.op_nodes()) {
    const bool mandatory = node->attrs().Find(kMustCompileAttr) != nullptr;
    if (!mandatory && (node->attrs().Find(kCandidateAttr) == nullptr || IsFreeConstant(*node))) continue;
    TF_ASSIGN_OR_RETURN(classes[node->id()], classifier.Classify(node));
  }
  return classes;
}

// Clusters of the right size whose borders are in order.
Members FindClusters(PassContext* context, const OrderGraph& order, std::vector<int>* classes) {
  const Graph& graph = **context->graph;
  while (true) {
    std::vector<int> clusters = MergeLevels(order, *classes, AssignLevels(order, *classes));
    Members members = CutToSize(CollectMembers(graph, order, clusters), context->settings.max_cluster_size);
    for (size_t cluster = 0; cluster < members.size(); ++cluster) {
      for (const Node* node : members[cluster]) clusters[node->id()] = static_cast<int>(cluster);
    }
    const std::vector<BorderRefusal> refusals = CheckBorders(graph, clusters);
    if (refusals.empty()) return members;
    for (const BorderRefusal& refusal : refusals) {
      (*classes)[refusal.node->id()] = kNoClass;
      context->report.Refuse(refusal.node->name(), refusal.node->type_string(), refusal.rule, refusal.reason);
    }
  }
}

}  // namespace

absl::Status SegmentGraph(PassContext* context) {
  Graph* graph = context->graph->get();
  TF_ASSIGN_OR_RETURN(const OrderGraph order, OrderGraph::Make(*graph));
  TF_ASSIGN_OR_RETURN(std::vector<int> classes, ClassifyCandidates(*graph, order));
  int counter = 0;
  for (const std::vector<Node*>& nodes : FindClusters(context, order, &classes)) {
    if (!WorthALaunch(nodes, context->settings.min_cluster_size)) {
      for (const Node* node : nodes) {
        context->report.Refuse(node->name(), node->type_string(), "small",
                               "its cluster would be smaller than "
                               "HPU_MIN_CLUSTER_SIZE, host bookkeeping not counted");
      }
      continue;
    }
    const bool mandatory = IsMandatory(nodes);
    if (!mandatory && context->settings.cluster_fuel >= 0 &&
        ClustersMade().fetch_add(1) >= context->settings.cluster_fuel) {
      for (const Node* node : nodes) {
        context->report.Refuse(node->name(), node->type_string(), "fuel", "HPU_CLUSTER_FUEL is used up");
      }
      continue;
    }
    const std::string name = NextName(*context, &counter);
    for (Node* node : nodes) node->AddAttr(kClusterAttr, name);
  }
  for (Node* node : graph->op_nodes()) {
    std::string moved_from;
    if (tensorflow::TryGetNodeAttr(node->attrs(), kMovedFromAttr, &moved_from)) {
      if (node->attrs().Find(kClusterAttr) == nullptr) node->set_assigned_device_name(moved_from);
      node->ClearAttr(kMovedFromAttr);
    }
    node->ClearAttr(kCandidateAttr);
    node->ClearAttr(kHostShapeAttr);
    node->ClearAttr(kUncheckedAttr);
  }
  return CopyConstantsIntoClusters(graph);
}

}  // namespace hpu::passes
