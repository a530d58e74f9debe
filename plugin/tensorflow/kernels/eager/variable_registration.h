// HPU kernels for variable ops without a lowering.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_EAGER_VARIABLE_REGISTRATION_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_EAGER_VARIABLE_REGISTRATION_H_

namespace hpu {

// An op must run on the device of its variable, so every variable op with a CPU kernel needs an HPU kernel. Types
// without a lowering run on the CPU kernel, on copies. Call after the HPU kernels of ops with lowerings are registered.
void RegisterVariableOps();

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_EAGER_VARIABLE_REGISTRATION_H_
