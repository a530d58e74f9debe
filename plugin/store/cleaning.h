// Removes from a recipe cache's directory what is left over, and what is too much.
#ifndef HPU_PLUGIN_STORE_CLEANING_H_
#define HPU_PLUGIN_STORE_CLEANING_H_

#include <cstdint>

#include "plugin/store/store_directory.h"

namespace hpu::store {

// Removes temporary and lock files of processes that have ended: their locks are gone. Errors leave files behind.
void RemoveLeftovers(const StoreDirectory& directory);

// Removes the least recently used entries until all take at most `max_bytes`, but none that is being read, and nothing
// while another process does the same. Returns the number of entries removed.
int Evict(const StoreDirectory& directory, int64_t max_bytes);

}  // namespace hpu::store

#endif  // HPU_PLUGIN_STORE_CLEANING_H_
