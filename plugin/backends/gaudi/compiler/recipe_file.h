// Synapse recipes as bytes. SynapseAI reads and writes files only.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_COMPILER_RECIPE_FILE_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_COMPILER_RECIPE_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "plugin/backends/gaudi/synapse/library.h"

namespace hpu::gaudi {

// The bytes that synRecipeSerialize writes. Uses a temporary file in a folder that only this user can read, in memory
// if the system has such a folder. Deletes the file before it returns.
absl::StatusOr<std::string> SerializeSynapseRecipe(const synapse::Library& library, synapse::synRecipeHandle recipe);

// Inverse of SerializeSynapseRecipe. The caller must have verified the bytes: the library does not detect damage.
absl::StatusOr<synapse::OwnedRecipe> LoadSynapseRecipe(const synapse::Library& library, absl::string_view bytes);

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_COMPILER_RECIPE_FILE_H_
