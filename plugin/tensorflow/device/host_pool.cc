#include "plugin/tensorflow/device/host_pool.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "plugin/base/flags/flags.h"
#include "plugin/base/status_payloads.h"
#include "plugin/tensorflow/device/arena.h"
#include "tsl/platform/logging.h"
#include "tsl/platform/mem.h"

namespace hpu {
namespace {

constexpr uint64_t kGiB = uint64_t{1} << 30;
constexpr uint64_t kSmallestPool = kGiB / 16;

uint64_t WantedBytes() {
  if (const int64_t gib = flags::TfCpuAllocatorSizeG(); gib > 0) return static_cast<uint64_t>(gib) * kGiB;
  const int64_t free = tsl::port::GetMemoryInfo().free;
  const uint64_t available = free > 0 ? static_cast<uint64_t>(free) : 0;
  // The default in Gaudi's guide is zero with 16 GiB of free memory or less. The minimum is therefore an eighth of the
  // free memory, but at least kSmallestPool.
  const uint64_t beyond_reserve = available > 16 * kGiB ? available - 16 * kGiB : 0;
  const uint64_t wanted = std::min({64 * kGiB, available / 5 * 4, beyond_reserve});
  return std::max({wanted, available / 8, kSmallestPool});
}

}  // namespace

HostPool::HostPool(std::unique_ptr<hal::HostBuffer> buffer)
    : buffer_(std::move(buffer)),
      allocator_(NewArena(buffer_->data(), buffer_->size(), "hpu_host", tensorflow::AllocatorMemoryType::kHostPinned)) {
}

absl::StatusOr<std::unique_ptr<HostPool>> HostPool::Create(hal::Device& device) {
  const uint64_t wanted = WantedBytes();
  for (uint64_t bytes = wanted;; bytes /= 2) {
    absl::StatusOr<std::unique_ptr<hal::HostBuffer>> buffer = device.AllocateHost(bytes);
    if (buffer.ok()) return std::unique_ptr<HostPool>(new HostPool(*std::move(buffer)));
    if (bytes == wanted) {
      LOG(WARNING) << "Cannot allocate a host pool of " << bytes << " bytes, trying a smaller one: " << buffer.status()
                   << ". Set TF_CPU_ALLOCATOR_SIZE_G to the size of the pool in GiB.";
    }
    if (bytes / 2 < kSmallestPool) {
      return Reworded(buffer.status(), absl::StrCat("cannot allocate a host pool of ", bytes,
                                                    " bytes: ", buffer.status().message(), "; free host memory"));
    }
  }
}

HostPool::BounceBuffer HostPool::Allocate(uint64_t bytes) {
  tensorflow::AllocationAttributes attributes(/*retry_on_failure=*/false, /*allocation_will_be_logged=*/false,
                                              /*freed_by_func=*/nullptr);
  void* data = allocator_->AllocateRaw(tensorflow::Allocator::kAllocatorAlignment, bytes, attributes);
  return BounceBuffer(data, Free(this));
}

bool HostPool::Contains(const void* data, uint64_t bytes) const {
  const auto begin = reinterpret_cast<uintptr_t>(buffer_->data());
  const auto first = reinterpret_cast<uintptr_t>(data);
  return first >= begin && bytes <= buffer_->size() && first - begin <= buffer_->size() - bytes;
}

}  // namespace hpu
