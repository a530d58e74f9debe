// HPU kernels for variable ops without a lowering.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_EAGER_VARIABLE_REGISTRATION_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_EAGER_VARIABLE_REGISTRATION_H_

namespace hpu {

// A variable ties its ops to its device. Every variable op with a CPU kernel therefore needs an HPU kernel. Call after
// lowerings are registered: types without a lowering run on the CPU kernel, on copies.
void RegisterVariableOps();

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_EAGER_VARIABLE_REGISTRATION_H_
