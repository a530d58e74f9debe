// Serialisation of the PJRT backend's recipes: the plugin's executable in a RecipeContainer.
#ifndef HPU_PLUGIN_BACKENDS_PJRT_RECIPE_PAYLOAD_H_
#define HPU_PLUGIN_BACKENDS_PJRT_RECIPE_PAYLOAD_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "plugin/program/program_table.h"

namespace hpu::pjrt {

struct RecipeParts {
  ProgramTable table;
  uint64_t temporary_bytes = 0;  // see CompiledProgram
  absl::string_view code;        // the plugin's executable; borrowed
};

// `target`: the compiler target of the code.
std::string SerializeRecipe(absl::string_view target, const RecipeParts& parts);
// Inverse of SerializeRecipe. `code` of the result is a view into `bytes`. Fails with the errors of
// RecipeContainer::Parse, which verifies the bytes, because plugins do not detect damaged bytes. `name`: name of the
// recipe in error texts.
absl::StatusOr<RecipeParts> ParseRecipe(absl::string_view target, absl::string_view name, absl::string_view bytes);

}  // namespace hpu::pjrt

#endif  // HPU_PLUGIN_BACKENDS_PJRT_RECIPE_PAYLOAD_H_
