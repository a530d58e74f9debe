// Repair of whole loops and branches that take the wrong side of a Switch.
#ifndef HPU_PLUGIN_PASSES_CONTROL_FLOW_SWITCH_SIDE_PASS_H_
#define HPU_PLUGIN_PASSES_CONTROL_FLOW_SWITCH_SIDE_PASS_H_

#include "tensorflow/core/common_runtime/optimization_registry.h"

namespace hpu::passes {

// Grappler's region passes (tensorflow/core/transforms, functional_to_region and region_to_functional) change a control
// signal of a Switch that a branch function waits for. They turn it into the Switch's first output, as another argument
// of the If or Case. On the other side of the Switch that output is dead, and so is everything after the op. Stock
// TensorFlow lowers such ops earlier and is not affected.
tensorflow::Status RunSwitchSidePass(const tensorflow::GraphOptimizationPassOptions& options);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CONTROL_FLOW_SWITCH_SIDE_PASS_H_
