// Outlining of a program's loops into separately compiled functions.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_OBJECT_OUTLINING_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_OBJECT_OUTLINING_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "plugin/backends/emulator/codegen/row_loop.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

struct Outlined {
  std::vector<std::unique_ptr<xla::HloModule>> programs;
  std::vector<RowLoop> row_loops;
};

// Replaces fusions, and other instructions that XLA compiles to loops, with kernel calls. A program's parameters are
// the instruction's operands, and its result is a tuple of the instruction's results. Instructions with the same
// computation, shapes and aliases share a program, which is compiled once. Elementwise loops of different shapes also
// share a program (row_programs.h). Outlining saves compile time, because LLVM compiles one function with hundreds of
// loops much more slowly than hundreds of functions. Results do not change. Kernels are numbered from `first_number`:
// first `programs`, then `row_loops`.
//
// XLA's passes must not run on `module` afterwards, because the calls do not declare all operands that they overwrite.
// A small program stays unchanged.
absl::StatusOr<Outlined> Outline(xla::HloModule* module, int first_number);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_OBJECT_OUTLINING_H_
