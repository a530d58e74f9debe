// Contents of a recipe cache's directory, for tools.
#ifndef HPU_PLUGIN_RECIPES_LISTING_H_
#define HPU_PLUGIN_RECIPES_LISTING_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "hpu/recipe/v1/entry.pb.h"
#include "plugin/recipes/entry.h"
#include "plugin/recipes/store_directory.h"

namespace hpu::recipes {

// Contents of an entry that passed Inspect.
struct Contents {
  recipe::v1::Ingredients ingredients;
  recipe::v1::Metadata metadata;
  int64_t payload_bytes = 0;
};

// A `name` is the key of a recipe, or the key of notes with kNotesSuffix.

// Parses and verifies `bytes` as the entry `name`. InvalidArgument, with the reason, if the entry is damaged or
// belongs to another key.
absl::StatusOr<Contents> Inspect(absl::string_view name, absl::string_view bytes);

// Returns the bytes of an entry that passes Inspect. Does not mark the entry as used. InvalidArgument also if the key
// is not 64 hexadecimal digits.
absl::StatusOr<std::string> ReadEntry(const StoreDirectory& directory, absl::string_view name);

// Writes an entry atomically if the entry passes Inspect.
absl::Status WriteEntry(const StoreDirectory& directory, absl::string_view name, absl::string_view bytes);

struct ListedEntry {
  std::string key;
  int64_t bytes = 0;  // size of the file
  int64_t used = 0;   // seconds since 1970; exact to a minute
  absl::StatusOr<Contents> contents;
};

struct Listing {
  std::vector<ListedEntry> entries;  // sorted by key
  std::vector<std::string> notes;    // names of notes about clusters, not verified
  std::vector<std::string> damaged;  // files that were set aside
  std::vector<std::string> pending;  // lock and temporary files, in use or left behind
};

// Compile time of the newest entry for a cluster of this name; nullopt if there is none. Reads the metadata only, so a
// damaged entry may count.
std::optional<absl::Duration> LastCompileTime(const StoreDirectory& directory, absl::string_view cluster);

// Reads every recipe completely. Omits entries that are removed during the call.
absl::StatusOr<Listing> List(const StoreDirectory& directory);

}  // namespace hpu::recipes

#endif  // HPU_PLUGIN_RECIPES_LISTING_H_
