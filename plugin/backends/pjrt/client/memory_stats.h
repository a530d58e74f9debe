// MemoryStats: a plugin's own statistics of a device's memory.
#ifndef HPU_PLUGIN_BACKENDS_PJRT_CLIENT_MEMORY_STATS_H_
#define HPU_PLUGIN_BACKENDS_PJRT_CLIENT_MEMORY_STATS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "plugin/backends/pjrt/client/plugin.h"

namespace hpu::pjrt {

// Sizes are in bytes. A figure that the plugin does not report is empty.
struct MemoryStats {
  uint64_t in_use = 0;
  std::optional<uint64_t> peak;
  std::optional<uint64_t> limit;
  std::optional<uint64_t> largest_free_block;
  std::optional<uint64_t> pool;         // held by the plugin's allocator, including free blocks
  std::optional<uint64_t> allocations;  // number since the client was created
};

// Fails with Unimplemented if the plugin has no memory statistics.
absl::StatusOr<MemoryStats> ReadMemoryStats(const Plugin& plugin, PJRT_Device* device);

// "in use 512 MiB, peak 600 MiB, limit 61440 MiB, largest free block 16 MiB", without unknown figures.
std::string Describe(const MemoryStats& stats);
// A JSON object with the names of the fields, without unknown figures, on one line.
std::string ToJson(const MemoryStats& stats);

}  // namespace hpu::pjrt

#endif  // HPU_PLUGIN_BACKENDS_PJRT_CLIENT_MEMORY_STATS_H_
