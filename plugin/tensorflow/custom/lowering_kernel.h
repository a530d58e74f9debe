// Registration of the lowerings of custom ops.
#ifndef HPU_PLUGIN_TENSORFLOW_CUSTOM_LOWERING_KERNEL_H_
#define HPU_PLUGIN_TENSORFLOW_CUSTOM_LOWERING_KERNEL_H_

#include "tensorflow/core/framework/kernel_def.pb.h"

namespace hpu {

// Registers a lowering for the types of the op's HPU kernel, so that clusters can contain the op. Works at any time.
// (TensorFlow's own registry of lowerings accepts no entries after the first compilation.) Thread safe.
void RegisterCustomLowering(const tensorflow::KernelDef& kernel);

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_CUSTOM_LOWERING_KERNEL_H_
