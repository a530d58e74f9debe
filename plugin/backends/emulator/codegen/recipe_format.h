// Serialised format of emulator recipes: header with checksum, target, tables, code, kernels, functions, profile.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_RECIPE_FORMAT_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_RECIPE_FORMAT_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "plugin/backends/emulator/codegen/recipe_parts.h"

namespace hpu::emulator {

std::string SerializeParts(const RecipeParts& parts, absl::string_view target);
// Size in bytes of the result of SerializeParts.
uint64_t SerializedSize(const RecipeParts& parts, absl::string_view target);

// Fails with InvalidArgument for bytes that are damaged, truncated or of another format. Fails with FailedPrecondition
// for a recipe of a target other than `target`. The tables of the result are consistent: all indices and offsets have
// been checked.
absl::StatusOr<RecipeParts> ParseParts(absl::string_view bytes, absl::string_view target);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_RECIPE_FORMAT_H_
