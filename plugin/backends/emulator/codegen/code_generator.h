// Generation of machine code from optimised HLO, by XLA's ahead-of-time compiler. TensorFlow's XLA generates
// either object files or thunks; the build compiles the folder of this name (TENSORFLOW_CPU_CODE in
// cmake/TensorFlow.cmake).
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_CODE_GENERATOR_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_CODE_GENERATOR_H_

#include <memory>

#include "absl/status/statusor.h"
#include "plugin/backends/emulator/codegen/recipe_parts.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/service/compiler.h"

namespace hpu::emulator {

// The process-wide XLA compiler. One instance suffices: it has no state, and its construction initialises LLVM.
xla::Compiler& XlaCompiler();

// Generates the code of a recipe and of its functions, which are numbered from `first_function`, on up to
// ComputePool::DefaultThreads() threads. Sets all fields of the result except `kernels`. `table`: program table of
// `module`.
absl::StatusOr<RecipeParts> GenerateCode(std::unique_ptr<xla::HloModule> module, ProgramTable table,
                                         int first_function);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_CODE_GENERATOR_H_
