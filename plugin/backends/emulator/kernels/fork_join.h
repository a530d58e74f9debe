// Replacement of the XLA runtime function that splits a loop over threads.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_FORK_JOIN_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_FORK_JOIN_H_

namespace hpu::emulator {

// Symbol of the XLA runtime function that generated code calls to run the parts of a loop.
inline constexpr char kForkJoinSymbol[] = "__xla_cpu_runtime_ParallelForkJoin";
// Address of the replacement, which runs on the pool of the thread's RecipeKernels::Scope. XLA's function queues all
// parts of the loop but one, and waits even for parts that no thread has started. In the replacement, the calling
// thread runs every part that no other thread has started.
void* ForkJoinAddress();

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_FORK_JOIN_H_
