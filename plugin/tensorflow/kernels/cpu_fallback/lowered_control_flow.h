// Functions with loops and branches as TensorFlow runs them on the CPU.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_CPU_FALLBACK_LOWERED_CONTROL_FLOW_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_CPU_FALLBACK_LOWERED_CONTROL_FLOW_H_

#include "absl/status/statusor.h"
#include "tensorflow/core/framework/function.h"

namespace hpu {

// Replaces the loops and branches of `function`, and of the functions that they call, by Switch and Merge nodes, and
// inlines calls. A functional loop calls its functions in each iteration, and is about three times slower. Marks the
// loops and branches of the functions in `library`. Returns `function` unchanged if it has neither.
absl::StatusOr<tensorflow::FunctionDef> WithLoweredControlFlow(const tensorflow::FunctionDef& function,
                                                               tensorflow::FunctionLibraryDefinition* library);

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_CPU_FALLBACK_LOWERED_CONTROL_FLOW_H_
