// The bytes of a serialised recipe: header with checksum, target, tables, object.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_RECIPE_FORMAT_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_RECIPE_FORMAT_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "plugin/backends/emulator/codegen/recipe_parts.h"

namespace hpu::emulator {

std::string SerializeParts(const RecipeParts& parts, absl::string_view target);
// Bytes of what SerializeParts gives.
uint64_t SerializedSize(const RecipeParts& parts, absl::string_view target);

// InvalidArgument for bytes that are damaged, cut off or of another format; FailedPrecondition if they were made for
// another target than `target`. What it returns is consistent: every index and offset has been checked.
absl::StatusOr<RecipeParts> ParseParts(absl::string_view bytes, absl::string_view target);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_RECIPE_FORMAT_H_
