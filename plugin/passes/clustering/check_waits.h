// Order of checks that run after clusters, and of the updates of variables that must not precede them.
#ifndef HPU_PLUGIN_PASSES_CLUSTERING_CHECK_WAITS_H_
#define HPU_PLUGIN_PASSES_CLUSTERING_CHECK_WAITS_H_

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "plugin/passes/clustering/check_order.h"
#include "plugin/passes/clustering/cluster_ancestors.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// Control edges between checks. Without them, a step could fail with the error of an op that the CPU never runs.
class CheckSequence {
 public:
  CheckSequence(absl::Span<const LateCheck> checks, tensorflow::Graph* graph);

  // Makes `later` wait for `earlier`. Returns false if this would be a cycle.
  bool Add(const tensorflow::Node* earlier, const tensorflow::Node* later);

 private:
  tensorflow::Graph* const graph_;
  std::vector<tensorflow::Node*> checks_;
  absl::flat_hash_map<const tensorflow::Node*, int> numbers_;
  std::vector<std::vector<bool>> waits_;  // for each check, the checks for which it waits
};

// For each check, makes these nodes wait for it if they depend on an op whose values it checks:
// - the checks of other ops
// - ops outside clusters with side effects, such as prints and Python functions. Collectives wait only for assertions,
//   because waiting delays them
// - updates outside the clusters of the checked ops. In lowered loops and branches, a Merge, Enter, Exit or
//   NextIteration on the way to the update waits instead: such nodes run even if the check is dead.
void WaitForChecks(absl::Span<const LateCheck> checks, const ClusterMembers& members, CheckSequence* sequence,
                   tensorflow::Graph* graph);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CLUSTERING_CHECK_WAITS_H_
