// Lowerings of custom ops.
#ifndef HPU_PLUGIN_TENSORFLOW_CUSTOM_LOWERING_KERNEL_H_
#define HPU_PLUGIN_TENSORFLOW_CUSTOM_LOWERING_KERNEL_H_

#include "tensorflow/core/framework/kernel_def.pb.h"

namespace hpu {

// Allows clusters to hold the op, with the types of its HPU kernel. Works at any time, whereas TensorFlow's own
// registry of lowerings takes no entries after the first function is compiled. Thread safe.
void RegisterCustomLowering(const tensorflow::KernelDef& kernel);

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_CUSTOM_LOWERING_KERNEL_H_
