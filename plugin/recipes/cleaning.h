// Cleaning of a recipe cache's directory: leftovers, damaged entries and eviction.
#ifndef HPU_PLUGIN_RECIPES_CLEANING_H_
#define HPU_PLUGIN_RECIPES_CLEANING_H_

#include <cstdint>
#include <limits>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "plugin/recipes/store_directory.h"

namespace hpu::recipes {

// Removes temporary and lock files that no process has locked. Ignores errors. Returns the number of files removed.
int RemoveLeftovers(const StoreDirectory& directory);

// Removes entries that were set aside as damaged. Returns the number of files removed.
int RemoveDamaged(const StoreDirectory& directory);

struct EvictionLimits {
  int64_t max_bytes = std::numeric_limits<int64_t>::max();  // total size of all entries
  absl::Duration max_unused = absl::InfiniteDuration();     // time since an entry was last used
};

struct Eviction {
  int entries = 0;  // number of removed entries
  int64_t bytes = 0;
  int in_use = 0;     // entries over the limits that stayed because of active readers
  bool busy = false;  // another eviction is running; no entry was removed
};

// Removes the least recently used entries until the rest is within the limits. Fails if an entry cannot be removed, for
// example on a read-only file system.
absl::StatusOr<Eviction> Evict(const StoreDirectory& directory, const EvictionLimits& limits);

}  // namespace hpu::recipes

#endif  // HPU_PLUGIN_RECIPES_CLEANING_H_
