// Tests inside a cluster whether a check after the cluster will pass.
#ifndef HPU_PLUGIN_PASSES_CLUSTERING_CHECK_TESTS_H_
#define HPU_PLUGIN_PASSES_CLUSTERING_CHECK_TESTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// The nodes whose results the test reads; for HabanaCheckValues, the test itself.
std::vector<tensorflow::Node*> InputsOfTest(const tensorflow::Node& check, const tensorflow::Node& checked);

// Returns a node whose result is whether `check` passes. `checked` is an op in `cluster` whose values are checked. The
// input of a HabanaCheckValues is already such a node; for other checks, adds nodes to the cluster.
absl::StatusOr<tensorflow::Node*> MakeTest(const tensorflow::Node& check, const tensorflow::Node& checked,
                                           const std::string& cluster, tensorflow::Graph* graph);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CLUSTERING_CHECK_TESTS_H_
