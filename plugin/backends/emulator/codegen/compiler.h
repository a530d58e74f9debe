// Compilation of HLO to machine code, by TensorFlow's XLA.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_COMPILER_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_COMPILER_H_

#include <string>

#include "absl/status/statusor.h"
#include "plugin/backends/emulator/codegen/recipe.h"
#include "plugin/hal/recipe.h"

namespace hpu::emulator {

// Compiles for GetTargetCpu() as XLA's just-in-time compiler does, with loops split for ComputePool::DefaultThreads()
// threads. XLA_FLAGS apply. Without kernels (HPU_EMULATOR_KERNELS=off), results equal bit for bit XLA's results for the
// same CPU and optimisation level with xla_cpu_enable_fast_min_max=false. Errors: see CompileRecipe. Thread safe;
// compilations run in parallel.
absl::StatusOr<RecipeParts> CompileParts(const hal::Program& program);

// The serialised HLO after all passes, from which CompileParts outlines functions and generates code.
absl::StatusOr<std::string> OptimizedProgram(const hal::Program& program);

// CompileParts with all kernels, or with user kernels only, regardless of HPU_EMULATOR_KERNELS and HPU_AUTOTUNE.
absl::StatusOr<RecipeParts> CompileWithKernels(const hal::Program& program);
absl::StatusOr<RecipeParts> CompileWithoutKernels(const hal::Program& program);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_COMPILER_H_
