// Serialisation of emulator recipes: RecipeParts as the payload and the binaries of a RecipeContainer.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_RECIPE_PAYLOAD_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_RECIPE_PAYLOAD_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "plugin/backends/emulator/codegen/recipe_parts.h"

namespace hpu::emulator {

std::string SerializeParts(const RecipeParts& parts, absl::string_view target);
// Size in bytes of the result of SerializeParts.
uint64_t SerializedSize(const RecipeParts& parts, absl::string_view target);

// Inverse of SerializeParts. Fails with the errors of RecipeContainer::Parse, and with InvalidArgument for an invalid
// payload. The tables of the result are consistent: all indices and offsets have been checked. `name`: the recipe's
// name in error texts.
absl::StatusOr<RecipeParts> ParseParts(absl::string_view name, absl::string_view bytes, absl::string_view target);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_RECIPE_PAYLOAD_H_
