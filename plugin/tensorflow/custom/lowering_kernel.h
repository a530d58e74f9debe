// The lowering of custom ops.
#ifndef HPU_PLUGIN_TENSORFLOW_CUSTOM_LOWERING_KERNEL_H_
#define HPU_PLUGIN_TENSORFLOW_CUSTOM_LOWERING_KERNEL_H_

#include "tensorflow/core/framework/kernel_def.pb.h"

namespace hpu {

// Lets clusters hold the op, with the types that its kernel for the HPU takes. Works at any time, where TensorFlow's
// own registry of lowerings counts only until the first function was compiled. Thread safe.
void RegisterCustomLowering(const tensorflow::KernelDef& kernel);

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_CUSTOM_LOWERING_KERNEL_H_
