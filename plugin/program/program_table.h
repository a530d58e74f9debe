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

// InvalidArgument if the entry is not "flat arrays in, flat tuple of arrays out", Unimplemented for element types and
// dynamic dimensions that no backend takes.
absl::StatusOr<ProgramTable> MakeProgramTable(const xla::HloModuleProto& module);
// The same, from the serialised xla::HloModuleProto of a hal::Program; `name` is for messages.
absl::StatusOr<ProgramTable> ParseProgramTable(absl::string_view name, absl::string_view hlo);

}  // namespace hpu

#endif  // HPU_PLUGIN_PROGRAM_PROGRAM_TABLE_H_
