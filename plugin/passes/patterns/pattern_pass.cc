#include "plugin/passes/patterns/pattern_pass.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "plugin/base/flags/flags.h"
#include "plugin/base/status_macros.h"
#include "plugin/passes/functions/function_rewriter.h"
#include "plugin/passes/graph/graph_util.h"
#include "plugin/passes/patterns/pattern.h"
#include "plugin/passes/patterns/pattern_match.h"
#include "plugin/passes/patterns/pattern_rewrite.h"

namespace hpu::passes {
namespace {

using tensorflow::Graph;
using tensorflow::Node;

// HPU nodes by op type. Stores ids, because rewrites delete nodes.
class NodeIndex {
 public:
  NodeIndex(const Graph& graph, const FunctionRewriter::NodeFilter& filter) {
    for (const Node* node : graph.op_nodes()) {
      const std::string& op = node->type_string();
      if (!filter(*node)) continue;
      ids_[op].push_back(node->id());
      same_.emplace(SameOp(op));
    }
  }

  bool HasAll(const std::vector<std::string>& ops) const {
    return std::all_of(ops.begin(), ops.end(), [this](const std::string& op) { return same_.contains(op); });
  }

  const std::vector<int>& Ids(const std::string& op) const {
    static const auto* none = new std::vector<int>;
    const auto found = ids_.find(op);
    return found == ids_.end() ? *none : found->second;
  }

 private:
  absl::flat_hash_map<std::string, std::vector<int>> ids_;
  absl::flat_hash_set<std::string> same_;
};

// Replaces all matches in one graph. Returns whether the graph changed.
absl::StatusOr<bool> MatchInGraph(PassContext* context, Graph* graph, const FunctionRewriter::NodeFilter& filter,
                                  const std::string& prefix) {
  NodeIndex index(*graph, filter);
  LazyShapes shapes(graph, context->library);
  const MatchScope scope{filter, &shapes};
  PatternRewriter rewriter(graph, prefix, &context->report);
  bool changed = false;
  for (const Pattern& pattern : Patterns()) {
    if (!index.HasAll(pattern.required_ops)) continue;
    bool any = false;
    for (const std::string& op : pattern.root_ops) {
      for (const int id : index.Ids(op)) {
        Node* root = graph->FindNodeId(id);
        if (root == nullptr) continue;
        if (const std::optional<PatternMatch> match = MatchPattern(pattern, root, scope)) {
          HPU_ASSIGN_OR_RETURN(const bool replaced, rewriter.Replace(pattern, *match));
          any |= replaced;
        }
      }
    }
    if (any) index = NodeIndex(*graph, filter);  // later patterns may match the fused ops
    changed |= any;
  }
  return changed;
}

}  // namespace

absl::Status MatchPatterns(PassContext* context) {
  if (!flags::TfEnablePatternMatcher()) return absl::OkStatus();
  FunctionRewriter rewriter(
      context, "_patterns",
      [context](Graph* graph, const FunctionRewriter::NodeFilter& filter, const std::string& prefix) {
        return MatchInGraph(context, graph, filter, prefix);
      });
  return rewriter.Run();
}

}  // namespace hpu::passes
