// Format of the PJRT backend's serialised recipes.
#ifndef HPU_PLUGIN_BACKENDS_PJRT_RECIPE_FORMAT_H_
#define HPU_PLUGIN_BACKENDS_PJRT_RECIPE_FORMAT_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "plugin/hal/recipe.h"
#include "plugin/program/program_table.h"

namespace hpu::pjrt {

// Parts of a serialised recipe. The views point into the recipe's bytes.
struct RecipeParts {
  ProgramTable table;
  uint64_t temporary_bytes = 0;  // see CompiledProgram
  absl::string_view code;        // the plugin's executable
};

// A recipe of `program`, compiled for `target`. The program must have a valid table.
std::string SerializeRecipe(absl::string_view target, const hal::Program& program, uint64_t temporary_bytes,
                            absl::string_view code);
// Inverse of SerializeRecipe. Verifies a checksum, because plugins do not detect damaged bytes. Fails with
// InvalidArgument if the bytes are damaged, and with FailedPrecondition if the recipe's target is not `target`. `name`:
// name of the recipe for error texts.
absl::StatusOr<RecipeParts> ParseRecipe(absl::string_view target, absl::string_view name, absl::string_view bytes);

}  // namespace hpu::pjrt

#endif  // HPU_PLUGIN_BACKENDS_PJRT_RECIPE_FORMAT_H_
