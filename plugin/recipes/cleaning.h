// Removes from a recipe cache's directory what is left over, and what is too much.
#ifndef HPU_PLUGIN_RECIPES_CLEANING_H_
#define HPU_PLUGIN_RECIPES_CLEANING_H_

#include <cstdint>
#include <limits>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "plugin/recipes/store_directory.h"

namespace hpu::store {

// Removes temporary and lock files of processes that have ended: their locks are gone. Errors leave files behind.
// Returns the number of files removed.
int RemoveLeftovers(const StoreDirectory& directory);

// Removes entries that were set aside as damaged; returns their number.
int RemoveDamaged(const StoreDirectory& directory);

struct EvictionLimits {
  int64_t max_bytes = std::numeric_limits<int64_t>::max();  // of all entries
  absl::Duration max_unused = absl::InfiniteDuration();     // since an entry was last used
};

struct Eviction {
  int entries = 0;  // removed
  int64_t bytes = 0;
  int in_use = 0;     // entries that had to go and stayed, for they are being read
  bool busy = false;  // another process evicts at this moment, and nothing was done here
};

// Removes the least recently used entries until the others keep the limits. An error if one cannot be removed, as on a
// read-only disk.
absl::StatusOr<Eviction> Evict(const StoreDirectory& directory, const EvictionLimits& limits);

}  // namespace hpu::store

#endif  // HPU_PLUGIN_RECIPES_CLEANING_H_
