// XLA's creator of kernels for must-compile functions, to which the plugin's creator forwards calls on other devices.
#ifndef HPU_PLUGIN_COMPAT_TF_2_15_XLA_KERNEL_CREATOR_H_
#define HPU_PLUGIN_COMPAT_TF_2_15_XLA_KERNEL_CREATOR_H_

// The plugin uses these members of XlaKernelCreator: CanCreateKernel, CreateKernel. TensorFlow has one creator for all
// devices, so the plugin's creator replaces XLA's.
#include "tensorflow/compiler/jit/xla_kernel_creator.h"

#endif  // HPU_PLUGIN_COMPAT_TF_2_15_XLA_KERNEL_CREATOR_H_
