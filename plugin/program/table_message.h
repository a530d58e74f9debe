// Conversion between ProgramTable and the message hpu.recipe.v1.Table in serialised recipes.
#ifndef HPU_PLUGIN_PROGRAM_TABLE_MESSAGE_H_
#define HPU_PLUGIN_PROGRAM_TABLE_MESSAGE_H_

#include "absl/status/statusor.h"
#include "hpu/recipe/v1/container.pb.h"
#include "plugin/program/program_table.h"

namespace hpu {

void ToMessage(const ProgramTable& table, recipe::v1::Table* message);
// Inverse of ToMessage. InvalidArgument for an unknown element type, a negative dimension, a size that overflows, and
// an alias of an argument that is missing or has another size.
absl::StatusOr<ProgramTable> FromMessage(const recipe::v1::Table& message);

}  // namespace hpu

#endif  // HPU_PLUGIN_PROGRAM_TABLE_MESSAGE_H_
