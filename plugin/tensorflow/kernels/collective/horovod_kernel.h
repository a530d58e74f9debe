// HPU kernel of Horovod's in-place broadcast into variables.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_COLLECTIVE_HOROVOD_KERNEL_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_COLLECTIVE_HOROVOD_KERNEL_H_

namespace hpu {

// Registers the kernel, once, if Horovod's library is loaded; otherwise does nothing. Earlier registration would make
// TensorFlow log an error for a kernel without an op. The kernel runs Horovod's CPU kernel on copies of the variables
// and writes the results back. Horovod's other ops are placed on the CPU (plugin/passes/analysis/placement_policy.h).
void RegisterHorovodKernel();

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_COLLECTIVE_HOROVOD_KERNEL_H_
