// Replacement of ParallelConcat and AccumulateNV2, which TensorFlow expands into in-place writes.
#ifndef HPU_PLUGIN_PASSES_PATTERNS_IN_PLACE_PASS_H_
#define HPU_PLUGIN_PASSES_PATTERNS_IN_PLACE_PASS_H_

#include "absl/status/status.h"
#include "tensorflow/core/common_runtime/optimization_registry.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// TensorFlow expands ParallelConcat (tf.parallel_stack) into ops that each write a slice of one buffer, ordered only by
// control edges. TensorFlow expands AccumulateNV2 (tf.math.accumulate_n) into updates of a temporary reference
// variable. A cluster, or a kernel that works on copies, would lose such writes. This pass replaces ParallelConcat by
// ConcatV2 (Identity for one value), and AccumulateNV2 by AddN. Changed functions keep their names.
absl::Status ReplaceInPlaceOps(tensorflow::Graph* graph, tensorflow::FunctionLibraryDefinition* library);

// ReplaceInPlaceOps as a TensorFlow graph pass (phases.cc).
tensorflow::Status RunInPlacePass(const tensorflow::GraphOptimizationPassOptions& options);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_PATTERNS_IN_PLACE_PASS_H_
