// User pins: records the ops that the program placed on a device other than the HPU.
#ifndef HPU_PLUGIN_PASSES_PLACEMENT_USER_PIN_PASS_H_
#define HPU_PLUGIN_PASSES_PLACEMENT_USER_PIN_PASS_H_

#include "tensorflow/core/common_runtime/optimization_registry.h"

namespace hpu::passes {

// After placement, a node requests its assigned device, and the program's request is lost. Runs before all other
// passes, because they also request devices. Does nothing unless ops are recorded.
tensorflow::Status RunUserPinPass(const tensorflow::GraphOptimizationPassOptions& options);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_PLACEMENT_USER_PIN_PASS_H_
