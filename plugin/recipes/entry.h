// The bytes of an entry of the recipe cache.
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
//           payload: what hal::Recipe::Serialize gave
//   end-32  32    SHA-256 of all bytes before
#ifndef HPU_PLUGIN_RECIPES_ENTRY_H_
#define HPU_PLUGIN_RECIPES_ENTRY_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hpu/recipe/v1/entry.pb.h"

namespace hpu::store {

inline constexpr uint32_t kFormatVersion = 1;
inline constexpr size_t kHeaderBytes = 40;
// Of an entry. A file can seem larger than memory and hold next to nothing.
inline constexpr uint64_t kMaxEntryBytes = uint64_t{2} << 30;

// A recipe's name in the cache and all that it was made from.
struct Key {
  std::string ingredients;  // serialised
  std::string name;         // SHA-256 of them, 64 hexadecimal digits

  static Key Of(const recipe::v1::Ingredients& ingredients);
};

// Views into the bytes that were parsed.
struct Entry {
  absl::string_view ingredients;
  absl::string_view metadata;
  absl::string_view payload;
};

std::string SerializeEntry(const Key& key, const recipe::v1::Metadata& metadata, absl::string_view payload);

// InvalidArgument unless `header`, the first kHeaderBytes of a file (fewer if it ends before), is that of an entry of
// `file_bytes`: what is damaged needs not be read whole, whatever size it seems to have.
absl::Status CheckHeader(absl::string_view header, uint64_t file_bytes);

// InvalidArgument that says what is wrong, for anything but what SerializeEntry gave. Reads nothing outside of `bytes`.
absl::StatusOr<Entry> ParseEntry(absl::string_view bytes);

}  // namespace hpu::store

#endif  // HPU_PLUGIN_RECIPES_ENTRY_H_
