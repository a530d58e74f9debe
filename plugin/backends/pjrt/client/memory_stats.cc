#include "plugin/backends/pjrt/client/memory_stats.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "plugin/base/format_bytes.h"
#include "plugin/base/status_macros.h"

namespace hpu::pjrt {
namespace {

uint64_t Unsigned(int64_t value) { return static_cast<uint64_t>(std::max<int64_t>(value, 0)); }

std::optional<uint64_t> Figure(bool is_set, int64_t value) {
  return is_set ? std::optional<uint64_t>(Unsigned(value)) : std::nullopt;
}

}  // namespace

absl::StatusOr<MemoryStats> ReadMemoryStats(const Plugin& plugin, PJRT_Device* device) {
  Arguments<PJRT_Device_MemoryStats_Args> get;
  get->device = device;
  HPU_RETURN_IF_ERROR(HPU_PJRT_CALL(plugin, PJRT_Device_MemoryStats, get));
  MemoryStats stats;
  stats.in_use = Unsigned(get->bytes_in_use);
  stats.peak = Figure(get->peak_bytes_in_use_is_set, get->peak_bytes_in_use);
  stats.limit = Figure(get->bytes_limit_is_set, get->bytes_limit);
  stats.largest_free_block = Figure(get->largest_free_block_bytes_is_set, get->largest_free_block_bytes);
  stats.pool = Figure(get->pool_bytes_is_set, get->pool_bytes);
  stats.allocations = Figure(get->num_allocs_is_set, get->num_allocs);
  return stats;
}

std::string Describe(const MemoryStats& stats) {
  std::string text = absl::StrCat("in use ", FormatBytes(stats.in_use));
  const auto append = [&text](const char* name, const std::optional<uint64_t>& bytes) {
    if (bytes.has_value()) absl::StrAppend(&text, ", ", name, " ", FormatBytes(*bytes));
  };
  append("peak", stats.peak);
  append("limit", stats.limit);
  append("largest free block", stats.largest_free_block);
  return text;
}

std::string ToJson(const MemoryStats& stats) {
  std::string text = absl::StrCat("{\"in_use\":", stats.in_use);
  const auto append = [&text](const char* name, const std::optional<uint64_t>& value) {
    if (value.has_value()) absl::StrAppend(&text, ",\"", name, "\":", *value);
  };
  append("peak", stats.peak);
  append("limit", stats.limit);
  append("largest_free_block", stats.largest_free_block);
  append("pool", stats.pool);
  append("allocations", stats.allocations);
  return text + "}";
}

}  // namespace hpu::pjrt
