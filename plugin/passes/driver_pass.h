// Driver pass: runs the pass pipeline on placed graphs with HPU nodes, and keeps their reports.
#ifndef HPU_PLUGIN_PASSES_DRIVER_PASS_H_
#define HPU_PLUGIN_PASSES_DRIVER_PASS_H_

#include "tensorflow/core/common_runtime/optimization_registry.h"

namespace hpu::passes {

tensorflow::Status RunDriverPass(const tensorflow::GraphOptimizationPassOptions& options);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_DRIVER_PASS_H_
