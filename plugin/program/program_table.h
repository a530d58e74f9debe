// Argument and result table of a program, read from its HLO without a compiler.
#ifndef HPU_PLUGIN_PROGRAM_PROGRAM_TABLE_H_
#define HPU_PLUGIN_PROGRAM_PROGRAM_TABLE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "plugin/hal/recipe.h"
#include "plugin/hal/types.h"

namespace xla {
class HloModuleProto;
}  // namespace xla

namespace hpu {

struct ProgramTable {
  std::vector<hal::TensorSpec> arguments;  // one per entry parameter
  std::vector<hal::ResultSpec> results;    // one per element of the entry's tuple
};

// Fails with INVALID_ARGUMENT unless the entry's parameters are arrays, the result is a tuple of arrays, and the
// aliases are valid. Fails with UNIMPLEMENTED for dynamic dimensions and element types that no backend supports.
absl::StatusOr<ProgramTable> MakeProgramTable(const xla::HloModuleProto& module);
// Like MakeProgramTable, for a hal::Program's serialised xla::HloModuleProto. `name` is the program's name in error
// texts.
absl::StatusOr<ProgramTable> ParseProgramTable(absl::string_view name, absl::string_view hlo);

}  // namespace hpu

#endif  // HPU_PLUGIN_PROGRAM_PROGRAM_TABLE_H_
