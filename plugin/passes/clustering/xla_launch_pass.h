// Replacement of XlaLaunch nodes (tf.xla.experimental.compile) by calls of must-compile functions.
#ifndef HPU_PLUGIN_PASSES_CLUSTERING_XLA_LAUNCH_PASS_H_
#define HPU_PLUGIN_PASSES_CLUSTERING_XLA_LAUNCH_PASS_H_

#include "absl/status/status.h"
#include "tensorflow/core/common_runtime/optimization_registry.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// Replaces each XlaLaunch by a StatefulPartitionedCall of the same function with _XlaMustCompile. XlaLaunch has no HPU
// kernel, but takes the variables that its function reads, so it could not be placed.
absl::Status ReplaceXlaLaunches(tensorflow::Graph* graph);

// ReplaceXlaLaunches as a TensorFlow graph pass (phases.cc), after the pass that makes XlaLaunch nodes.
tensorflow::Status RunXlaLaunchPass(const tensorflow::GraphOptimizationPassOptions& options);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CLUSTERING_XLA_LAUNCH_PASS_H_
