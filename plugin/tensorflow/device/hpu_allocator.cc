#include "plugin/tensorflow/device/hpu_allocator.h"

#include <sys/mman.h>

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "plugin/base/cards/cards.h"
#include "plugin/base/format_bytes.h"
#include "plugin/tensorflow/device/fork_guard.h"
#include "plugin/tensorflow/device/host_pool.h"
#include "plugin/tensorflow/device/memory_fill.h"
#include "plugin/tensorflow/device/process_device.h"
#include "tsl/platform/logging.h"

namespace hpu {
namespace {

using tensorflow::AllocationAttributes;
using tensorflow::AllocatorStats;

constexpr char kName[] = "HPU_0_bfc";

// Size of this thread's last failed allocation. TensorFlow then writes the error message on the same thread and calls
// Name(), which resets the size.
thread_local uint64_t failed_bytes = 0;

// Any access to this address faults, on the host and on the device.
void* NoMansLand() {
  static void* const address = [] {
    constexpr size_t kPage = 4096;
    void* page = mmap(nullptr, kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(page != MAP_FAILED)
        << "cannot reserve a guard page: the address space is exhausted; raise the limit with ulimit -v";
    return page;
  }();
  return address;
}

class LazyDeviceAllocator : public tensorflow::Allocator {
 public:
  std::string Name() override {
    if (const uint64_t asked = std::exchange(failed_bytes, 0); asked > 0) {
      return absl::StrCat(kName, " (", MemoryExhaustedHint(asked), ")");
    }
    return kName;
  }

  void* AllocateRaw(size_t alignment, size_t bytes) override {
    return AllocateRaw(alignment, bytes, AllocationAttributes());
  }

  void* AllocateRaw(size_t alignment, size_t bytes, const AllocationAttributes& attributes) override {
    if (bytes == 0) return nullptr;
    absl::StatusOr<ProcessDevice*> device = ProcessDevice::Get();
    if (!device.ok()) {
      VLOG(1) << "Cannot acquire a device to allocate " << bytes << " bytes: " << device.status();
      return NoMansLand();
    }
    void* data = AllocateNow(**device, alignment, bytes, attributes);
    if (data == nullptr && (*device)->workspace().Release()) {
      data = AllocateNow(**device, alignment, bytes, attributes);
    }
    if (data == nullptr && attributes.retry_on_failure) {
      data = AllocateWhenFreed(**device, alignment, bytes, attributes);
    }
    if (data == nullptr) failed_bytes = bytes;
    if (FillsMemory() && data != nullptr) FillMemory(**device, reinterpret_cast<hal::DeviceAddress>(data), bytes);
    return data;
  }

  void DeallocateRaw(void* data) override {
    if (tensorflow::Allocator* arena = ArenaOf(data)) arena->DeallocateRaw(data);
  }

  bool TracksAllocationSizes() const override { return true; }
  size_t RequestedSize(const void* data) const override {
    tensorflow::Allocator* arena = ArenaOf(data);
    return arena == nullptr ? 0 : arena->RequestedSize(data);
  }
  size_t AllocatedSize(const void* data) const override {
    tensorflow::Allocator* arena = ArenaOf(data);
    return arena == nullptr ? 0 : arena->AllocatedSize(data);
  }
  int64_t AllocationId(const void* data) const override {
    tensorflow::Allocator* arena = ArenaOf(data);
    return arena == nullptr ? 0 : arena->AllocationId(data);
  }

  absl::optional<AllocatorStats> GetStats() override {
    if (ProcessDevice* device = ProcessDevice::GetIfAcquired()) return device->arena().GetStats();
    AllocatorStats stats;
    stats.bytes_limit = cards::MemoryMb() << 20;
    return stats;
  }
  // Resets the peak. Releases the workspace first, because the peak of later work must not include an earlier recipe's
  // workspace.
  bool ClearStats() override {
    ProcessDevice* device = ProcessDevice::GetIfAcquired();
    if (device == nullptr) return true;
    device->workspace().Release();
    return device->arena().ClearStats();
  }

  tensorflow::AllocatorMemoryType GetMemoryType() const override { return tensorflow::AllocatorMemoryType::kDevice; }

 private:
  // Null for memory that belongs to no arena of this process: the guard page (NoMansLand), and memory inherited by a
  // forked child.
  static tensorflow::Allocator* ArenaOf(const void* data) {
    if (data == nullptr || data == NoMansLand()) return nullptr;
    ProcessDevice* device = ProcessDevice::GetIfAcquired();
    return device == nullptr ? nullptr : &device->arena();
  }

  static uint64_t FreeBytes(ProcessDevice& device) {
    const std::optional<AllocatorStats> stats = device.arena().GetStats();
    return static_cast<uint64_t>(stats->bytes_limit.value_or(0) - stats->bytes_in_use);
  }

  // Allocates without the arena's wait of 10 seconds. Returns null if no free piece is large enough.
  static void* AllocateNow(ProcessDevice& device, size_t alignment, size_t bytes,
                           const AllocationAttributes& attributes) {
    constexpr uint64_t kLarge = 1 << 20;
    // The arena logs a warning for the requests that it refuses.
    if (bytes >= kLarge && bytes > FreeBytes(device)) return nullptr;
    const AllocationAttributes now(/*retry_on_failure=*/false, attributes.allocation_will_be_logged,
                                   attributes.freed_by_func);
    return device.arena().AllocateRaw(alignment, bytes, now);
  }

  // Waits at most 200 ms for running work to free memory. Returns null if that was not enough.
  static void* AllocateWhenFreed(ProcessDevice& device, size_t alignment, size_t bytes,
                                 const AllocationAttributes& attributes) {
    constexpr absl::Duration kPatience = absl::Milliseconds(200);
    uint64_t free_bytes = FreeBytes(device);
    for (absl::Time end = absl::Now() + kPatience; absl::Now() < end; absl::SleepFor(absl::Milliseconds(5))) {
      const uint64_t free_before = std::exchange(free_bytes, FreeBytes(device));
      if (free_bytes == free_before) continue;
      if (void* data = AllocateNow(device, alignment, bytes, attributes)) return data;
    }
    return nullptr;
  }
};

// Minimum size of a tensor in the host pool. Smaller tensors use CPU memory, because a bounce buffer serves their
// copies.
constexpr uint64_t kPooledBytes = 4096;

class LazyHostAllocator : public tensorflow::Allocator {
 public:
  std::string Name() override { return "hpu_host"; }

  void* AllocateRaw(size_t alignment, size_t bytes) override {
    HostPool* pool = bytes >= kPooledBytes ? Pool() : nullptr;
    void* data = pool == nullptr ? nullptr : pool->Allocate(bytes).release();
    return data != nullptr ? data : tensorflow::cpu_allocator()->AllocateRaw(alignment, bytes);
  }

  void DeallocateRaw(void* data) override {
    if (IsForkedChild()) return;  // `data` may be in the pool, whose locks a forked child cannot use
    HostPool* pool = Pool();
    if (pool != nullptr && pool->Contains(data, 1)) {
      pool->allocator().DeallocateRaw(data);
    } else {
      tensorflow::cpu_allocator()->DeallocateRaw(data);
    }
  }

  tensorflow::AllocatorMemoryType GetMemoryType() const override {
    return tensorflow::AllocatorMemoryType::kHostPinned;
  }

 private:
  static HostPool* Pool() {
    ProcessDevice* device = ProcessDevice::GetIfAcquired();
    return device == nullptr ? nullptr : &device->host_pool();
  }
};

}  // namespace

tensorflow::Allocator* DeviceAllocator() {
  static auto* allocator = new LazyDeviceAllocator;
  return allocator;
}

bool IsWithoutDevice(const void* data) { return data == NoMansLand(); }

tensorflow::Allocator* HostAllocator() {
  static auto* allocator = new LazyHostAllocator;
  return allocator;
}

std::string MemoryExhaustedHint(uint64_t asked_bytes) {
  const std::optional<AllocatorStats> stats = DeviceAllocator()->GetStats();
  const uint64_t limit = stats->bytes_limit.value_or(0), free_bytes = limit - stats->bytes_in_use;
  return absl::StrCat(asked_bytes <= free_bytes ? "the free memory is not in one piece: " : "",
                      FormatBytes(asked_bytes), " requested, ", FormatBytes(stats->bytes_in_use), " of ",
                      FormatBytes(limit), " in use; reduce the batch size, free tensors, or raise HPU_MEMORY_MB (now ",
                      cards::MemoryMb(), ") on an emulated device");
}

}  // namespace hpu
