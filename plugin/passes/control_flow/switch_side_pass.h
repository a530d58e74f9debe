// Gives loops and branches that stay whole the side of a Switch that they are on.
#ifndef HPU_PLUGIN_PASSES_CONTROL_FLOW_SWITCH_SIDE_PASS_H_
#define HPU_PLUGIN_PASSES_CONTROL_FLOW_SWITCH_SIDE_PASS_H_

#include "tensorflow/core/common_runtime/optimization_registry.h"

namespace hpu::passes {

// Grappler's passes over regions (tensorflow/core/transforms, functional_to_region and region_to_functional) turn a
// signal of a Switch that a branch function waits for into its first output, as another argument of the If or Case. On
// the other side of the Switch that output is dead, and so is all that comes after the op. TensorFlow itself lowers
// such ops before and does not meet it.
tensorflow::Status RunSwitchSidePass(const tensorflow::GraphOptimizationPassOptions& options);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CONTROL_FLOW_SWITCH_SIDE_PASS_H_
