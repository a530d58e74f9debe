// HostMemory: allocator and access checks of the host memory that is mapped for one device.
#ifndef HPU_PLUGIN_BACKENDS_COMMON_HOST_MEMORY_H_
#define HPU_PLUGIN_BACKENDS_COMMON_HOST_MEMORY_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "plugin/backends/common/liveness.h"
#include "plugin/backends/common/range_set.h"
#include "plugin/hal/host_buffer.h"

namespace hpu::common {

// Thread safe. Must outlive its buffers, which point to it.
class HostMemory {
 public:
  explicit HostMemory(const Liveness& liveness) : liveness_(liveness) {}

  // The buffer is page-aligned and zeroed. Pages are committed on first touch, so an unused pool of many GiB costs
  // address space only.
  absl::StatusOr<std::unique_ptr<hal::HostBuffer>> Allocate(uint64_t bytes);
  absl::StatusOr<std::unique_ptr<hal::HostBuffer>> Map(void* data, uint64_t bytes);

  // Fails with InvalidArgument unless one buffer contains the whole range. A range of 0 bytes may have any address.
  absl::Status Check(const void* data, uint64_t bytes, absl::string_view what) const;

 private:
  class Buffer;

  const Liveness& liveness_;
  RangeSet mapped_;
};

}  // namespace hpu::common

#endif  // HPU_PLUGIN_BACKENDS_COMMON_HOST_MEMORY_H_
