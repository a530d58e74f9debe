#include "plugin/passes/clustering/segmentation_pass.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"
#include "plugin/compat/cluster_analysis.h"
#include "plugin/op_facts/op_facts.h"
#include "plugin/passes/analysis/cluster_fuel.h"
#include "plugin/passes/analysis/clustering_rules.h"
#include "plugin/passes/clustering/bounded_sizes.h"
#include "plugin/passes/clustering/cluster_borders.h"
#include "plugin/passes/clustering/cluster_constants.h"
#include "plugin/passes/clustering/levels.h"
#include "plugin/passes/clustering/order_graph.h"
#include "plugin/passes/clustering/slices.h"
#include "plugin/passes/functions/functional_control_flow.h"
#include "plugin/passes/graph/graph_util.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/platform/logging.h"

namespace hpu::passes {
namespace {

using tensorflow::Graph;
using tensorflow::Node;

void Refuse(PassContext* context, const Node& node, Rule rule, std::string_view reason) {
  VLOG(2) << node.name() << " (" << node.type_string() << ") stays outside clusters by rule " << NameOf(rule) << ": "
          << reason;
  AddRefusal(&context->report, node.name(), node.type_string(), rule, reason);
}

// Assigns each node a class; a cluster holds nodes of one class only.
class Classifier {
 public:
  static absl::StatusOr<Classifier> Make(const Graph& graph, const OrderGraph& order, const Settings& settings) {
    Classifier classifier(order, settings.clustering == Clustering::kScopes);
    // A graph without Switch and Merge does not need the analysis, because every node is alive.
    if (HasLoweredControlFlow(graph)) {
      absl::StatusOr<Deadness> deadness = Deadness::Analyze(graph);
      // Fails if a value from a loop enters the same loop (order_graph.cc).
      classifier.is_unknown_ = absl::IsInvalidArgument(deadness.status());
      if (!classifier.is_unknown_) {
        HPU_ASSIGN_OR_RETURN(classifier.deadness_, std::move(deadness));
      }
    }
    return classifier;
  }

  absl::StatusOr<int> Classify(Node* node) {
    uintptr_t predicate = 0;
    if (deadness_.has_value()) {
      HPU_ASSIGN_OR_RETURN(predicate, deadness_->PredicateOf(node));
    }
    // A call that is a cluster by itself has a separate class, and each node if conditions are unknown.
    const int alone = is_unknown_ || node->attrs().Find(kMustCompileAttr) != nullptr ? node->id() : -1;
    int stage = -1;
    tensorflow::TryGetNodeAttr(node->attrs(), kStageAttr, &stage);
    const auto key = std::make_tuple(node->assigned_device_name_index(), order_->FrameOf(node->id()), predicate, alone,
                                     stage, by_scope_ ? JitScopeName(*node) : std::string());
    return classes_.emplace(key, static_cast<int>(classes_.size())).first->second;
  }

 private:
  Classifier(const OrderGraph& order, bool by_scope) : order_(&order), by_scope_(by_scope) {}

  const OrderGraph* order_;
  bool by_scope_;
  std::optional<Deadness> deadness_;
  bool is_unknown_ = false;  // under which conditions nodes run
  std::map<std::tuple<int, int, uintptr_t, int, int, std::string>, int>
      classes_;  // numbered in order of appearance, so the result does not depend on pointers
};

// Ops too cheap to justify a launch by themselves.
bool IsTrivial(const Node& node) {
  if (FactsOf(node.type_string()).trivial) return true;
  // int32 tensors are in host memory, and arithmetic on sizes runs on the host.
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

bool ContainsMustCompile(const std::vector<Node*>& nodes) {
  return nodes.front()->attrs().Find(kMustCompileAttr) != nullptr;
}

bool ContainsJitCall(const std::vector<Node*>& nodes) {
  return std::any_of(nodes.begin(), nodes.end(),
                     [](const Node* node) { return node->attrs().Find(kJitCallAttr) != nullptr; });
}

bool ContainsControlFlow(const std::vector<Node*>& nodes) {
  return std::any_of(nodes.begin(), nodes.end(), [](const Node* node) { return IsFunctionalControlFlow(*node); });
}

bool IsWorthALaunch(const std::vector<Node*>& nodes, int64_t smallest) {
  // Without a launch, TensorFlow would run a loop or branch op by op, and some ops of its functions have no kernel.
  if (ContainsMustCompile(nodes) || ContainsJitCall(nodes) || ContainsControlFlow(nodes)) return true;
  int64_t working = 0;
  bool requested = false;
  for (const Node* node : nodes) {
    requested |= JitScope(*node).value_or(false);
    if (!IsTrivial(*node) && (++working >= smallest || requested)) return true;
  }
  return requested && working > 0;
}

std::string NextName(const PassContext& context, int* counter) {
  std::string name;
  do {
    name = absl::StrCat(kClusterPrefix, context.graph_name, "_", (*counter)++);
  } while (context.library->Find(name) != nullptr);
  return name;
}

absl::StatusOr<std::vector<int>> ClassifyCandidates(const Graph& graph, const OrderGraph& order,
                                                    const Settings& settings) {
  HPU_ASSIGN_OR_RETURN(Classifier classifier, Classifier::Make(graph, order, settings));
  std::vector<int> classes(order.size(), kNoClass);
  for (Node* node : graph.op_nodes()) {
    const bool must_compile = node->attrs().Find(kMustCompileAttr) != nullptr;
    if (!must_compile && (node->attrs().Find(kCandidateAttr) == nullptr || IsFreeConstant(*node))) continue;
    HPU_ASSIGN_OR_RETURN(classes[node->id()], classifier.Classify(node));
  }
  return classes;
}

// A future cluster; nodes in topological order.
struct Segment {
  std::vector<Node*> nodes;
  std::string cut;  // reason why the segment is a slice of a larger cluster; empty for a complete cluster
};

// Splits clusters that exceed the size limit and are worth a launch into slices.
std::vector<Segment> SplitLargeClusters(const Graph& graph, const BoundedSizes& sizes, Members clusters,
                                        const std::vector<int>& numbers, const Settings& settings) {
  const size_t largest = static_cast<size_t>(settings.max_cluster_size);
  const auto fits = [&](const std::vector<Node*>& nodes) {
    return largest == 0 || nodes.size() <= largest || !IsWorthALaunch(nodes, settings.min_cluster_size);
  };
  std::vector<Segment> segments;
  std::vector<std::pair<int, int>> ties;
  if (!std::all_of(clusters.begin(), clusters.end(), fits)) ties = FindTies(graph, sizes, numbers);
  for (std::vector<Node*>& nodes : clusters) {
    if (fits(nodes)) {
      segments.push_back({std::move(nodes), ""});
      continue;
    }
    std::vector<std::vector<Node*>> slices = Slice(nodes, largest, ties);
    const std::string of =
        absl::StrCat(" of ", slices.size(), ": the cluster has ", nodes.size(), " ops, but ",
                     settings.max_cluster_size_name, "=", settings.max_cluster_size, " limits its size");
    for (size_t i = 0; i < slices.size(); ++i) {
      const bool whole = slices.size() == 1;
      segments.push_back({std::move(slices[i]), whole ? "" : absl::StrCat("slice ", i + 1, of)});
    }
  }
  return segments;
}

// Repeats clustering until the borders of all clusters are valid.
std::vector<Segment> FindClusters(PassContext* context, const OrderGraph& order, std::vector<int>* classes) {
  const Graph& graph = **context->graph;
  const BoundedSizes sizes(context->graph->get());
  while (true) {
    std::vector<int> clusters = MergeLevels(order, *classes, AssignLevels(order, *classes));
    std::vector<Segment> segments =
        SplitLargeClusters(graph, sizes, CollectMembers(graph, order, clusters), clusters, context->settings);
    for (size_t cluster = 0; cluster < segments.size(); ++cluster) {
      for (const Node* node : segments[cluster].nodes) clusters[node->id()] = static_cast<int>(cluster);
    }
    const std::vector<BorderRefusal> refusals = CheckBorders(graph, sizes, clusters);
    if (refusals.empty()) return segments;
    for (const BorderRefusal& refusal : refusals) {
      (*classes)[refusal.node->id()] = kNoClass;
      Refuse(context, *refusal.node, refusal.rule, refusal.reason);
    }
  }
}

}  // namespace

absl::Status SegmentGraph(PassContext* context) {
  Graph* graph = context->graph->get();
  HPU_ASSIGN_OR_RETURN(const OrderGraph order, OrderGraph::Make(*graph));
  HPU_ASSIGN_OR_RETURN(std::vector<int> classes, ClassifyCandidates(*graph, order, context->settings));
  int counter = 0;
  for (const auto& [nodes, cut] : FindClusters(context, order, &classes)) {
    if (nodes.size() == 1 && ContainsJitCall(nodes)) {
      nodes.front()->AddAttr(kMustCompileAttr, "no op beside it can be in its cluster");
    }
    if (cut.empty() && !IsWorthALaunch(nodes, context->settings.min_cluster_size)) {
      const std::string reason =
          absl::StrCat("its cluster would be smaller than HPU_MIN_CLUSTER_SIZE=", context->settings.min_cluster_size,
                       " (reads, copies and int32 shape arithmetic are not counted)");
      for (const Node* node : nodes) Refuse(context, *node, Rule::kSmall, reason);
      continue;
    }
    const bool must_compile = ContainsMustCompile(nodes);
    const bool has_fuel = must_compile || ConsumeFuel(context->settings);
    if (!has_fuel && !ContainsControlFlow(nodes) && !ContainsJitCall(nodes)) {
      for (const Node* node : nodes) Refuse(context, *node, Rule::kFuel, "HPU_CLUSTER_FUEL is used up");
      continue;
    }
    const std::string name = NextName(*context, &counter);
    if (!cut.empty()) {
      ClusterSlice* slice = context->report.add_slices();
      slice->set_cluster(name);
      slice->set_rule(std::string(NameOf(Rule::kSizeLimit)));
      slice->set_reason(cut);
    }
    VLOG(1) << name << ": " << nodes.size() << " ops" << (must_compile ? ", jit_compile" : "")
            << (cut.empty() ? "" : ", ") << cut;
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
    node->ClearAttr(kStageAttr);
    node->ClearAttr(kUncheckedAttr);
    node->ClearAttr(kJitCallAttr);
  }
  return CopyConstantsIntoClusters(graph);
}

}  // namespace hpu::passes
