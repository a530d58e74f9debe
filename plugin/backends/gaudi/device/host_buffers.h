// HostBuffers: host memory that a Gaudi accesses: from synHostMalloc, from synHostMap, or pinned on first use.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_DEVICE_HOST_BUFFERS_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_DEVICE_HOST_BUFFERS_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "plugin/backends/common/host_memory.h"
#include "plugin/backends/common/liveness.h"
#include "plugin/backends/gaudi/device/pinned_pages.h"
#include "plugin/backends/gaudi/synapse/library.h"
#include "plugin/hal/host_buffer.h"

namespace hpu::gaudi {

// Thread safe. Must outlive its buffers, which point to it.
class HostBuffers {
 public:
  // Allocated buffers up to this size are pinned at once, if synHostMalloc returns whole pages. Others are pools, of
  // which copies pin the parts that they use.
  static constexpr uint64_t kMaxPinnedAtOnce = uint64_t{64} << 20;

  // Borrows the function table and `liveness`.
  HostBuffers(const synapse::Functions& functions, synapse::synDeviceId device, const common::Liveness& liveness)
      : functions_(functions), device_(device), liveness_(liveness), ranges_(liveness), pages_(functions, device) {}

  // The buffer is page-aligned and zeroed.
  absl::StatusOr<std::unique_ptr<hal::HostBuffer>> Allocate(uint64_t bytes);
  absl::StatusOr<std::unique_ptr<hal::HostBuffer>> Map(void* data, uint64_t bytes);

  // Checks that one buffer holds the range, and cuts the range into pieces for copies. Errors call the range `what`.
  absl::Status Cut(const void* data, uint64_t bytes, absl::string_view what, PinnedPages::Pieces* pieces);

 private:
  class Buffer;
  enum class Kind { kMalloc, kPool, kMapped };

  absl::StatusOr<std::unique_ptr<hal::HostBuffer>> AllocatePinned(uint64_t bytes);
  absl::StatusOr<std::unique_ptr<hal::HostBuffer>> AllocatePool(uint64_t bytes);

  const synapse::Functions& functions_;
  const synapse::synDeviceId device_;
  const common::Liveness& liveness_;
  common::HostMemory ranges_;  // for checks; allocates the pools
  PinnedPages pages_;
};

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_DEVICE_HOST_BUFFERS_H_
