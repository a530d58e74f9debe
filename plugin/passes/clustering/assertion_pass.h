// Assertions that do not split clusters.
#ifndef HPU_PLUGIN_PASSES_CLUSTERING_ASSERTION_PASS_H_
#define HPU_PLUGIN_PASSES_CLUSTERING_ASSERTION_PASS_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "plugin/passes/reporting/pass_context.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// Lets an Assert run after the clusters that compute its condition, although HPU ops wait for it in the program. Such
// an Assert would split the cluster. The step still fails with the assertion's error. GuardUpdates keeps the variables'
// values, and ops with other side effects wait for the assertion.
//
// These stay as they are: assertions whose condition the host computes from the step's arguments, assertions whose
// condition may not be a scalar, assertions with computed strings, assertions in graphs with lowered control flow, and
// assertions before a loop that may run long if the condition is false. A loop does not if it has a counter with a
// limit that is constant, depends only on shapes, or is the number of iterations of such a loop or a result of a loop
// before the assertion.
absl::Status MoveAssertionsBack(PassContext* context);

// Adds a HabanaAssert with the condition and message of an Assert that MoveAssertionsBack has moved. Compiled code
// ignores it. A cluster that runs on the CPU has no guards, and this op raises the error there. The new node is on the
// device of `checked`.
absl::StatusOr<tensorflow::Node*> CopyAssertion(const tensorflow::Node& assertion, const tensorflow::Node& checked,
                                                tensorflow::Graph* graph);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CLUSTERING_ASSERTION_PASS_H_
