// Notes which tensors of recorded graphs go from one device to another.
#ifndef HPU_PLUGIN_PASSES_PLACEMENT_CROSSING_PASS_H_
#define HPU_PLUGIN_PASSES_PLACEMENT_CROSSING_PASS_H_

#include "tensorflow/core/common_runtime/optimization_registry.h"

namespace hpu::passes {

// For partitioned graphs.
tensorflow::Status RunCrossingPass(const tensorflow::GraphOptimizationPassOptions& options);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_PLACEMENT_CROSSING_PASS_H_
