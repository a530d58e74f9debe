// Tests inside a cluster whether a check after the cluster will pass.
#ifndef HPU_PLUGIN_PASSES_CLUSTERING_CHECK_TESTS_H_
#define HPU_PLUGIN_PASSES_CLUSTERING_CHECK_TESTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// Whether input 0 of the check, a boolean, is the test: HabanaCheckValues and Assert.
bool HasTest(const tensorflow::Node& check);

// The nodes whose results the test reads; the test itself if the check has one.
std::vector<tensorflow::Node*> InputsOfTest(const tensorflow::Node& check, const tensorflow::Node& checked);

// Returns a node whose result is whether `check` passes. `checked` is an op in `cluster` whose values are checked. Adds
// nodes to the cluster, unless the check has a test.
absl::StatusOr<tensorflow::Node*> MakeTest(const tensorflow::Node& check, const tensorflow::Node& checked,
                                           const std::string& cluster, tensorflow::Graph* graph);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CLUSTERING_CHECK_TESTS_H_
