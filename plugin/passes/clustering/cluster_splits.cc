#include "plugin/passes/clustering/cluster_splits.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "plugin/base/status_macros.h"
#include "plugin/compat/cluster_analysis.h"
#include "plugin/passes/analysis/clustering_rules.h"
#include "plugin/passes/clustering/order_graph.h"
#include "plugin/passes/graph/graph_util.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/graph/algorithm.h"

namespace hpu::passes {
namespace {

using tensorflow::Edge;
using tensorflow::Graph;
using tensorflow::Node;

constexpr int kOutside = -1;
constexpr size_t kMaxClusterPairs = 2000;  // each pair needs a search of the graph
constexpr size_t kMaxNodes = 20;

struct Group {
  std::string name;
  // The first node determines the cluster's frame and predicate. It is never a constant, because copied constants have
  // no frame and no predicate.
  std::vector<const Node*> nodes;
  uintptr_t predicate = 0;  // deadness predicate of the first node
};

bool HasResourceInput(const Node* node) {
  const tensorflow::DataTypeVector& types = node->input_types();
  return std::find(types.begin(), types.end(), tensorflow::DT_RESOURCE) != types.end();
}

class SplitFinder {
 public:
  static absl::StatusOr<SplitFinder> Make(const Graph& graph, const PassContext& context) {
    HPU_ASSIGN_OR_RETURN(OrderGraph order, OrderGraph::Make(graph));
    SplitFinder finder(graph, context, std::move(order));
    if (HasLoweredControlFlow(graph)) HPU_RETURN_IF_ERROR(finder.FindPredicates());
    return finder;
  }

  std::vector<ClusterSplit> Find() {
    std::set<std::pair<int, int>> pairs;
    for (int second = 1; second < static_cast<int>(groups_.size()); ++second) pairs.emplace(second - 1, second);
    for (const Edge* edge : graph_.edges()) {
      const int from = group_of_[edge->src()->id()], to = group_of_[edge->dst()->id()];
      if (!edge->IsControlEdge() && from != kOutside && from < to) pairs.emplace(from, to);
    }
    std::vector<ClusterSplit> splits;
    for (const auto& [first, second] : pairs) {
      if (splits.size() == kMaxClusterPairs) break;
      splits.push_back(Explain(first, second));
    }
    return splits;
  }

 private:
  SplitFinder(const Graph& graph, const PassContext& context, OrderGraph order)
      : graph_(graph), context_(context), order_(std::move(order)), group_of_(order_.size(), kOutside) {
    absl::flat_hash_map<std::string, std::vector<const Node*>> members;
    std::vector<std::string> names;  // ordered by the first non-constant op of each cluster
    for (const int v : order_.TopologicalOrder()) {
      const Node* node = v < graph.num_node_ids() ? graph.FindNodeId(v) : nullptr;
      std::string name;
      if (node == nullptr || !tensorflow::TryGetNodeAttr(node->attrs(), kClusterAttr, &name)) continue;
      std::vector<const Node*>& nodes = members[name];
      if (!node->IsConstant() && (nodes.empty() || nodes.front()->IsConstant())) {
        names.push_back(name);
        nodes.insert(nodes.begin(), node);
      } else {
        nodes.push_back(node);
      }
    }
    for (const std::string& name : names) {
      for (const Node* node : members[name]) group_of_[node->id()] = static_cast<int>(groups_.size());
      groups_.push_back({name, std::move(members[name]), 0});
    }
    members_.resize(groups_.size());
    predecessors_.resize(order_.size());
    for (int v = 0; v < order_.size(); ++v) {
      if (group_of_[v] != kOutside) members_[group_of_[v]].push_back(v);
      for (const int next : order_.Successors(v)) predecessors_[next].push_back(v);
    }
  }

  // The analysis requires edges from the source and to the sink, which copied constants lack. It therefore runs
  // on a copy of the graph to which these edges are added.
  absl::Status FindPredicates() {
    Graph copy(graph_.flib_def());
    copy.Copy(graph_);
    tensorflow::FixupSourceAndSinkEdges(&copy);
    HPU_ASSIGN_OR_RETURN(const Deadness deadness, Deadness::Analyze(copy));
    absl::flat_hash_map<std::string, Group*> groups;
    for (Group& group : groups_) groups.emplace(group.nodes.front()->name(), &group);
    for (Node* node : copy.op_nodes()) {
      const auto group = groups.find(node->name());
      if (group == groups.end()) continue;
      HPU_ASSIGN_OR_RETURN(group->second->predicate, deadness.PredicateOf(node));
    }
    return absl::OkStatus();
  }

  ClusterSplit Explain(int first, int second) {
    const Group &a = groups_[first], &b = groups_[second];
    const Node &one = *a.nodes.front(), &two = *b.nodes.front();
    const auto split = [&](Rule rule, const std::string& reason) {
      ClusterSplit result;
      result.set_first(a.name);
      result.set_second(b.name);
      result.set_rule(std::string(NameOf(rule)));
      result.set_reason(reason);
      return result;
    };
    for (const Node* node : {&one, &two}) {
      std::string reason;
      if (!tensorflow::TryGetNodeAttr(node->attrs(), kMustCompileAttr, &reason)) continue;
      return split(Rule::kMustCompile,
                   absl::StrCat(node->name(), " has jit_compile=True, and is a cluster by itself: ", reason));
    }
    if (one.assigned_device_name_index() != two.assigned_device_name_index()) {
      return split(Rule::kDevice, absl::StrCat("the clusters are on different devices: ", one.assigned_device_name(),
                                               " and ", two.assigned_device_name()));
    }
    if (order_.FrameOf(one.id()) != order_.FrameOf(two.id())) {
      return split(Rule::kLoop, "the clusters are in different frames: at least one of them is in a lowered loop");
    }
    if (a.predicate != b.predicate) {
      return split(Rule::kDeadness,
                   "the clusters run under different conditions: a lowered branch or loop may skip one cluster");
    }
    // The graph's order is not the clusters' order: the second cluster may also run before an op of the first cluster.
    Middle middle = Between(first, second);
    if (middle.nodes.empty() && middle.clusters.empty()) middle = Between(second, first);
    if (!middle.nodes.empty()) {
      const bool resources = std::any_of(middle.nodes.begin(), middle.nodes.end(), HasResourceInput);
      ClusterSplit result =
          resources ? split(Rule::kResourceHazard,
                            "an unclustered op on a variable or another resource must run between the clusters")
                    : split(Rule::kCycle, "unclustered ops must run between the clusters");
      for (const Node* node : middle.nodes) result.add_through(node->name());
      return result;
    }
    if (context_.settings.clustering == Clustering::kScopes && JitScopeName(one) != JitScopeName(two)) {
      return split(Rule::kJitScope, "the clusters are in different jit_scope scopes");
    }
    const ClusterSlice *slice = FindSlice(a.name), *other = FindSlice(b.name);
    if (slice != nullptr && other != nullptr) {
      return split(RuleNamed(other->rule()).value_or(Rule::kUnknown), other->reason());
    }
    if (!middle.clusters.empty()) {
      const auto name = [&](std::string* out, int cluster) { absl::StrAppend(out, groups_[cluster].name); };
      return split(Rule::kOrder, absl::StrCat("other clusters must run between the clusters: ",
                                              absl::StrJoin(middle.clusters, ", ", name)));
    }
    return split(Rule::kOrder, "segmentation merges neighbouring levels only, and the clusters are further apart");
  }

  const ClusterSlice* FindSlice(const std::string& cluster) const {
    for (const ClusterSlice& slice : context_.report.slices()) {
      if (slice.cluster() == cluster) return &slice;
    }
    return nullptr;
  }

  // What runs between two clusters.
  struct Middle {
    std::vector<const Node*> nodes;  // unclustered nodes in topological order; at most kMaxNodes
    std::set<int> clusters;          // the other clusters
  };

  // Returns what depends on cluster `from` and what cluster `to` depends on. An op of a cluster depends on the inputs
  // of the whole cluster.
  Middle Between(int from, int to) const {
    const std::vector<char> after = Reach(from, to, [&](int v) { return order_.Successors(v); });
    const std::vector<char> before = Reach(to, from, [&](int v) { return absl::MakeConstSpan(predecessors_[v]); });
    Middle middle;
    for (const int v : order_.TopologicalOrder()) {
      if (!after[v] || !before[v] || group_of_[v] == from || group_of_[v] == to) continue;
      if (group_of_[v] != kOutside) {
        middle.clusters.insert(group_of_[v]);
      } else if (v < graph_.num_node_ids() && middle.nodes.size() < kMaxNodes) {
        middle.nodes.push_back(graph_.FindNodeId(v));
      }
    }
    return middle;
  }

  // By vertex: whether a path along the edges `next` leads there from cluster `from`. Paths end at cluster `end`.
  std::vector<char> Reach(int from, int end, absl::FunctionRef<absl::Span<const int>(int)> next) const {
    std::vector<char> reached(order_.size(), false);
    std::vector<int> pending;
    const auto reach = [&](int v) {
      if (!std::exchange(reached[v], true)) pending.push_back(v);
    };
    absl::c_for_each(members_[from], reach);
    while (!pending.empty()) {
      const int v = pending.back();
      pending.pop_back();
      for (const int w : next(v)) {
        if (reached[w] || group_of_[w] == end) continue;
        if (group_of_[w] == kOutside) {
          reach(w);
        } else {
          absl::c_for_each(members_[group_of_[w]], reach);
        }
      }
    }
    return reached;
  }

  const Graph& graph_;
  const PassContext& context_;
  OrderGraph order_;
  std::vector<int> group_of_;                   // cluster by vertex
  std::vector<Group> groups_;                   // clusters, ordered by their first members
  std::vector<std::vector<int>> members_;       // vertices by cluster
  std::vector<std::vector<int>> predecessors_;  // by vertex
};

}  // namespace

absl::StatusOr<std::vector<ClusterSplit>> FindSplits(const Graph& graph, const PassContext& context) {
  HPU_ASSIGN_OR_RETURN(SplitFinder finder, SplitFinder::Make(graph, context));
  return finder.Find();
}

}  // namespace hpu::passes
