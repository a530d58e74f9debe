// Repair of If and Case ops with an input from the dead side of a Switch.
#ifndef HPU_PLUGIN_PASSES_CONTROL_FLOW_SWITCH_SIDE_PASS_H_
#define HPU_PLUGIN_PASSES_CONTROL_FLOW_SWITCH_SIDE_PASS_H_

#include "tensorflow/core/common_runtime/optimization_registry.h"

namespace hpu::passes {

// Replaces an input from the dead side of a Switch by the side that other inputs of the node use. Such inputs come from
// grappler's region passes (functional_to_region and region_to_functional in tensorflow/core/transforms). A branch
// function may wait for a Switch by a control edge. The region passes replace this edge by a data argument of the If or
// Case: output 0 of the Switch. If the Switch forwards its other output, output 0 is dead, and the If or Case and all
// its consumers do not run. Stock TensorFlow is not affected, because it lowers such ops earlier.
tensorflow::Status RunSwitchSidePass(const tensorflow::GraphOptimizationPassOptions& options);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CONTROL_FLOW_SWITCH_SIDE_PASS_H_
