// How XLA's code runs a loop on several threads.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_FORK_JOIN_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_FORK_JOIN_H_

namespace hpu::emulator {

// The function of XLA's runtime that code calls with the parts of a loop.
inline constexpr char kForkJoinSymbol[] = "__xla_cpu_runtime_ParallelForkJoin";
// What takes its place: XLA's queues all parts but one, and waits for threads that have not begun. This one runs on the
// pool of the thread's RecipeKernels::Scope.
void* ForkJoinAddress();

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_FORK_JOIN_H_
