// User pins: record of the ops that the program placed on a device other than the HPU.
#ifndef HPU_PLUGIN_PASSES_PLACEMENT_USER_PIN_PASS_H_
#define HPU_PLUGIN_PASSES_PLACEMENT_USER_PIN_PASS_H_

#include "tensorflow/core/common_runtime/optimization_registry.h"

namespace hpu::passes {

// Sets kUserPinAttr on the ops that the program placed on a device other than the HPU. After placement this request is
// lost, because each node then requests its assigned device. Runs before all other passes, because other passes also
// request devices. Does nothing unless ops are recorded.
tensorflow::Status RunUserPinPass(const tensorflow::GraphOptimizationPassOptions& options);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_PLACEMENT_USER_PIN_PASS_H_
