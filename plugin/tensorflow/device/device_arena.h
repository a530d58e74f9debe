// DeviceArena: an allocator of device memory that tracks freed ranges and pending copies.
#ifndef HPU_PLUGIN_TENSORFLOW_DEVICE_DEVICE_ARENA_H_
#define HPU_PLUGIN_TENSORFLOW_DEVICE_DEVICE_ARENA_H_

#include <memory>
#include <optional>
#include <utility>

#include "plugin/tensorflow/device/freed_memory.h"
#include "plugin/tensorflow/device/pending_copies.h"
#include "tensorflow/core/framework/allocator.h"

namespace hpu {

// An arena (arena.h) that records every deallocation in freed(). Thread safe.
class DeviceArena final : public tensorflow::AllocatorWrapper {
 public:
  DeviceArena(std::unique_ptr<tensorflow::Allocator> arena, hal::DeviceAddress base, uint64_t bytes)
      : AllocatorWrapper(arena.get()), arena_(std::move(arena)), freed_(base, bytes) {}

  FreedMemory& freed() { return freed_; }
  PendingCopies& copies() { return copies_; }

  void DeallocateRaw(void* data) override {
    freed_.Free(reinterpret_cast<hal::DeviceAddress>(data), wrapped()->AllocatedSize(data));
    wrapped()->DeallocateRaw(data);
  }
  // AllocatorWrapper does not forward these.
  absl::optional<tensorflow::AllocatorStats> GetStats() override { return wrapped()->GetStats(); }
  bool ClearStats() override { return wrapped()->ClearStats(); }

 private:
  const std::unique_ptr<tensorflow::Allocator> arena_;
  FreedMemory freed_;
  PendingCopies copies_;
};

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_DEVICE_DEVICE_ARENA_H_
