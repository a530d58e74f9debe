// HLO to machine code, by the XLA that TensorFlow brings.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_COMPILER_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_COMPILER_H_

#include <string>

#include "absl/status/statusor.h"
#include "plugin/backends/emulator/codegen/recipe.h"
#include "plugin/hal/recipe.h"

namespace hpu::emulator {

// Compiles for this machine's CPU, work split for ComputePool::DefaultThreads() threads, as XLA's just-in-time compiler
// would: XLA_FLAGS are obeyed, and without kernels (HPU_EMULATOR_KERNELS) the numbers are the same. Errors: see
// CompileRecipe. Thread safe; compilations run side by side.
absl::StatusOr<RecipeParts> CompileParts(const hal::Program& program);

// The program's HLO from which CompileParts generates code, serialised; before equal parts of it become functions.
absl::StatusOr<std::string> OptimizedProgram(const hal::Program& program);

// The same with all kernels or with none, whatever HPU_EMULATOR_KERNELS and HPU_AUTOTUNE say.
absl::StatusOr<RecipeParts> CompileWithKernels(const hal::Program& program);
absl::StatusOr<RecipeParts> CompileWithoutKernels(const hal::Program& program);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_COMPILER_H_
