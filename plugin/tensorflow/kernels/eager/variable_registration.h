// Kernels of the HPU for ops on variables that no lowering serves.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_EAGER_VARIABLE_REGISTRATION_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_EAGER_VARIABLE_REGISTRATION_H_

namespace hpu {

// A variable ties its ops to its device, so each op on a variable that the CPU has a kernel for needs one on the HPU.
// Called after lowerings are registered: the types that they leave out run by the CPU's kernel, on copies.
void RegisterVariableOps();

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_EAGER_VARIABLE_REGISTRATION_H_
