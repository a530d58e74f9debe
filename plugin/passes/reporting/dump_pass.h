// Graph dumps before and after placement, at the end of each phase.
#ifndef HPU_PLUGIN_PASSES_REPORTING_DUMP_PASS_H_
#define HPU_PLUGIN_PASSES_REPORTING_DUMP_PASS_H_

#include "tensorflow/core/common_runtime/optimization_registry.h"

namespace hpu::passes {

tensorflow::Status DumpBeforePlacement(const tensorflow::GraphOptimizationPassOptions& options);
tensorflow::Status DumpAfterPlacement(const tensorflow::GraphOptimizationPassOptions& options);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_REPORTING_DUMP_PASS_H_
