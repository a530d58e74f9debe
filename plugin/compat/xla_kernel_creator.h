// Creators of kernels for function calls: XLA's creator, and registration of a creator.
#ifndef HPU_PLUGIN_COMPAT_XLA_KERNEL_CREATOR_H_
#define HPU_PLUGIN_COMPAT_XLA_KERNEL_CREATOR_H_

// The plugin uses these members of XlaKernelCreator: CanCreateKernel, CreateKernel.
#include "tensorflow/compiler/jit/xla_kernel_creator.h"
// RegisterDefaultCustomKernelCreator replaces the creator of all devices, so the plugin's creator forwards calls on
// other devices to XLA's.
#include "tensorflow/core/common_runtime/function.h"

#endif  // HPU_PLUGIN_COMPAT_XLA_KERNEL_CREATOR_H_
