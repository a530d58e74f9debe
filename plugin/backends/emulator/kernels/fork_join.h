// Replacement of the XLA runtime function that splits a loop over threads.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_FORK_JOIN_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_FORK_JOIN_H_

namespace hpu::emulator {

// The function of XLA's runtime that code calls to run the parts of a loop.
inline constexpr char kForkJoinSymbol[] = "__xla_cpu_runtime_ParallelForkJoin";
// Address of the replacement. XLA's function queues all parts but one, and waits for threads that have not started. The
// replacement runs on the pool of the thread's RecipeKernels::Scope.
void* ForkJoinAddress();

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_FORK_JOIN_H_
