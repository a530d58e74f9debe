// Machine code of programs whose HLO passes have run, by XLA's ahead-of-time compiler.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_CODE_GENERATOR_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_CODE_GENERATOR_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "plugin/backends/emulator/codegen/recipe_parts.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/service/cpu/cpu_compiler.h"

namespace hpu::emulator {

// Shared by all threads: it has no state, and making one initialises LLVM.
xla::cpu::CpuCompiler& XlaCompiler();

// A recipe's own code and its functions, in as many threads as the emulator computes with. What they generate does not
// depend on that. Of the result only code, functions and profile are filled in; `table` is that of `module`.
absl::StatusOr<RecipeParts> GenerateCode(std::unique_ptr<xla::HloModule> module, ProgramTable table,
                                         std::vector<std::unique_ptr<xla::HloModule>> functions);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_CODE_GENERATOR_H_
