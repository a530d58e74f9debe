// DeviceMemory: allocator of one device's memory, and checks of device addresses.
#ifndef HPU_PLUGIN_BACKENDS_COMMON_DEVICE_MEMORY_H_
#define HPU_PLUGIN_BACKENDS_COMMON_DEVICE_MEMORY_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "plugin/backends/common/host_memory.h"
#include "plugin/backends/common/liveness.h"
#include "plugin/backends/common/range_allocator.h"
#include "plugin/backends/common/range_set.h"
#include "plugin/backends/common/reservation.h"
#include "plugin/hal/device.h"
#include "plugin/hal/memory.h"
#include "plugin/hal/recipe.h"
#include "plugin/hal/stream.h"

namespace hpu::common {

// Thread safe. Must outlive its Memory objects, which point to it. Error texts contain offsets in an allocation, never
// addresses: clients of a device server see the texts and must not learn the server's memory layout.
class DeviceMemory {
 public:
  // Runs before a range is freed. Must wait for queued work that uses the range, or drop the contents that the backend
  // keeps for the range.
  using BeforeFree = std::function<void(hal::DeviceAddress address, uint64_t bytes)>;
  DeviceMemory(std::unique_ptr<Reservation> reservation, const Liveness& liveness, BeforeFree before_free);

  // Fails with ResourceExhausted if no free block is large enough. The text contains the requested size, the free size
  // and the setting to raise.
  absl::StatusOr<std::unique_ptr<hal::Memory>> Allocate(uint64_t bytes);
  hal::MemoryInfo info() const;

  // Fails with InvalidArgument unless one Memory contains the whole range. `what` is the name of the range in the error
  // text, for example "destination of CopyToDevice". A range of 0 bytes may have any address.
  absl::Status Check(hal::DeviceAddress address, uint64_t bytes, absl::string_view what) const;
  // Checks a launch under one lock: every address, the number of arguments and results, aliases and the workspace.
  // Fails if `recipe` is null or if the stream does not accept launches. Results may also be in `host`, unless `host`
  // is null.
  absl::Status CheckLaunch(hal::StreamKind kind, const hal::Recipe* recipe, const hal::LaunchArguments& launch,
                           const HostMemory* host = nullptr) const;

  const Reservation& reservation() const { return *reservation_; }

 private:
  class Allocation;

  void Free(hal::DeviceAddress address, uint64_t bytes);
  absl::Status CheckIn(RangeSet::Reader& reader, hal::DeviceAddress address, uint64_t bytes,
                       absl::string_view what) const;
  absl::Status RangeError(const RangeSet::Reader& reader, hal::DeviceAddress address, uint64_t bytes,
                          absl::string_view what) const;

  const std::unique_ptr<Reservation> reservation_;
  const Liveness& liveness_;
  const BeforeFree before_free_;
  mutable std::mutex mutex_;
  RangeAllocator allocator_;  // guarded by mutex_
  RangeSet allocated_;
};

}  // namespace hpu::common

#endif  // HPU_PLUGIN_BACKENDS_COMMON_DEVICE_MEMORY_H_
