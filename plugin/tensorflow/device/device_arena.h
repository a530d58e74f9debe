// DeviceArena: an allocator of device memory that tracks freed ranges and pending copies.
#ifndef HPU_PLUGIN_TENSORFLOW_DEVICE_DEVICE_ARENA_H_
#define HPU_PLUGIN_TENSORFLOW_DEVICE_DEVICE_ARENA_H_

#include <memory>
#include <optional>
#include <utility>

#include "plugin/hal/device_traits.h"
#include "plugin/tensorflow/device/freed_memory.h"
#include "plugin/tensorflow/device/pending_copies.h"
#include "tensorflow/core/framework/allocator.h"

namespace hpu {

// An arena (arena.h) that records every deallocation in freed(). Thread safe.
class DeviceArena final : public tensorflow::AllocatorWrapper {
 public:
  // `freed_ranges`: the device's trait, or null.
  DeviceArena(std::unique_ptr<tensorflow::Allocator> arena, hal::DeviceAddress base, uint64_t bytes,
              hal::FreedRanges* freed_ranges)
      : AllocatorWrapper(arena.get()), arena_(std::move(arena)), freed_(base, bytes), freed_ranges_(freed_ranges) {}

  FreedMemory& freed() { return freed_; }
  PendingCopies& copies() { return copies_; }

  void DeallocateRaw(void* data) override {
    const auto address = reinterpret_cast<hal::DeviceAddress>(data);
    const uint64_t bytes = wrapped()->AllocatedSize(data);
    freed_.Free(address, bytes);
    if (freed_ranges_ != nullptr) freed_ranges_->RangeFreed(address, bytes);
    wrapped()->DeallocateRaw(data);
  }
  // AllocatorWrapper does not forward statistics.
  absl::optional<tensorflow::AllocatorStats> GetStats() override { return wrapped()->GetStats(); }
  bool ClearStats() override { return wrapped()->ClearStats(); }

 private:
  const std::unique_ptr<tensorflow::Allocator> arena_;
  FreedMemory freed_;
  PendingCopies copies_;
  hal::FreedRanges* const freed_ranges_;
};

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_DEVICE_DEVICE_ARENA_H_
