// Functions as TensorFlow rewrites them for its CPU device.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_CPU_FALLBACK_CPU_REWRITES_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_CPU_FALLBACK_CPU_REWRITES_H_

#include "absl/status/statusor.h"
#include "tensorflow/core/framework/device.h"
#include "tensorflow/core/framework/function.h"

namespace hpu {

// Rewrites `function`, and the functions of its loops and branches, for fast execution on the device `cpu`:
// - Loops and branches become Switch and Merge nodes. A functional loop calls its functions in each iteration, and is
//   about three times slower.
// - Fused ops become the plain ops of their decompositions, and TensorFlow fuses those for the CPU.
// - Ops become oneDNN's, unless TF_ENABLE_ONEDNN_OPTS is 0.
// Marks the loops and branches of the functions in `library`.
absl::StatusOr<tensorflow::FunctionDef> WithCpuRewrites(const tensorflow::FunctionDef& function,
                                                        tensorflow::FunctionLibraryDefinition* library,
                                                        tensorflow::Device* cpu);

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_CPU_FALLBACK_CPU_REWRITES_H_
