// User pins: records the ops that the program itself keeps off the HPU, if ops are recorded.
#ifndef HPU_PLUGIN_PASSES_PLACEMENT_USER_PIN_PASS_H_
#define HPU_PLUGIN_PASSES_PLACEMENT_USER_PIN_PASS_H_

#include "tensorflow/core/common_runtime/optimization_registry.h"

namespace hpu::passes {

// TensorFlow forgets at placement which device the program asked for. Runs before all other passes, because these also
// pin ops.
tensorflow::Status RunUserPinPass(const tensorflow::GraphOptimizationPassOptions& options);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_PLACEMENT_USER_PIN_PASS_H_
