// File format of a recipe cache entry.
//
//   offset  size  field
//   0       8     magic "HPURECIP"
//   8       4     version of the format, little-endian, kFormatVersion
//   12      4     reserved, 0
//   16      8     size of the ingredients, little-endian
//   24      8     size of the metadata, little-endian
//   32      8     size of the payload, little-endian
//   40            ingredients: hpu.recipe.v1.Ingredients, serialised deterministically
//           metadata: hpu.recipe.v1.Metadata
//           payload: result of hal::Recipe::Serialize, a container (plugin/program/recipe_container.h)
//   end-32  32    SHA-256 of all bytes before the payload and of the payload's first kContainerHeaderBytes bytes
//
// The checksum covers the rest of the payload through the digest in the container's header. Only Device::LoadRecipe and
// Inspect verify this digest, so that a recipe's code is hashed once before a launch.
#ifndef HPU_PLUGIN_RECIPES_ENTRY_H_
#define HPU_PLUGIN_RECIPES_ENTRY_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hpu/recipe/v1/entry.pb.h"

namespace hpu::recipes {

inline constexpr uint32_t kFormatVersion = 2;
inline constexpr size_t kHeaderBytes = 40;
// Maximum size of an entry's file. Limits the memory of a read, because a sparse file can have any size.
inline constexpr uint64_t kMaxEntryBytes = uint64_t{2} << 30;

// Cache key of a recipe: all inputs of the compilation, and a hash of these inputs.
struct Key {
  std::string ingredients;  // serialised recipe::v1::Ingredients
  std::string name;         // SHA-256 of `ingredients`, 64 hexadecimal digits

  static Key Of(const recipe::v1::Ingredients& ingredients);
};

// Views into the parsed bytes.
struct Entry {
  absl::string_view ingredients;
  absl::string_view metadata;
  absl::string_view payload;
};

std::string SerializeEntry(const Key& key, const recipe::v1::Metadata& metadata, absl::string_view payload);

// Checks the header of an entry in a file of `file_bytes` bytes, before the rest is read. `header`: the first
// kHeaderBytes of the file, or all of a shorter file. InvalidArgument if the header is invalid.
absl::Status CheckHeader(absl::string_view header, uint64_t file_bytes);

// Place of the metadata in a file whose header CheckHeader accepts.
struct MetadataRange {
  uint64_t offset, bytes;
};
MetadataRange MetadataRangeOf(absl::string_view header);

// Inverse of SerializeEntry. InvalidArgument, with the reason, if the checksum is wrong or the bytes are not an entry.
// Does not verify the payload after the container's header. Reads nothing outside of `bytes`.
absl::StatusOr<Entry> ParseEntry(absl::string_view bytes);

// Error for an entry whose ingredients do not have the hash `key`. Names both hashes.
absl::Status KeyMismatch(absl::string_view key, const Entry& entry);

}  // namespace hpu::recipes

#endif  // HPU_PLUGIN_RECIPES_ENTRY_H_
