#include "plugin/tensorflow/device/workspace.h"

#include <algorithm>
#include <utility>

#include "tsl/platform/logging.h"

namespace hpu {

struct Workspace::Block {
  Block(tensorflow::Allocator* allocator, void* data, uint64_t size) : allocator(allocator), data(data), size(size) {}
  ~Block() { allocator->DeallocateRaw(data); }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  tensorflow::Allocator* const allocator;
  void* const data;
  const uint64_t size;
};

hal::DeviceAddress Workspace::Lease::address() const {
  return block_ == nullptr ? 0 : reinterpret_cast<hal::DeviceAddress>(block_->data);
}

Workspace::Workspace(tensorflow::Allocator* allocator, uint64_t initial_bytes, uint64_t chunk_bytes)
    : allocator_(allocator), initial_bytes_(initial_bytes), chunk_bytes_(std::max<uint64_t>(chunk_bytes, 1)) {}

Workspace::Lease Workspace::Acquire(uint64_t bytes) {
  std::shared_ptr<Block> old;
  {
    absl::MutexLock lock(&mutex_);
    if (block_ != nullptr && block_->size >= bytes) return Lease(block_);
    old = std::move(block_);
  }
  old.reset();  // the larger block may need the old block's memory
  // Allocates without the lock, because an allocator that is short of memory calls Release().
  std::shared_ptr<Block> block = Allocate(bytes);
  absl::MutexLock lock(&mutex_);
  if (block != nullptr && (block_ == nullptr || block_->size < block->size)) block_ = block;
  return Lease(std::move(block));
}

void Workspace::Reserve() {
  if (initial_bytes_ > 0) Acquire(initial_bytes_);
}

bool Workspace::Release() {
  std::shared_ptr<Block> block;
  absl::MutexLock lock(&mutex_);
  block.swap(block_);
  return block != nullptr;
}

uint64_t Workspace::size() const {
  absl::MutexLock lock(&mutex_);
  return block_ == nullptr ? 0 : block_->size;
}

uint64_t Workspace::Rounded(uint64_t bytes) const {
  if (bytes <= initial_bytes_) return initial_bytes_;
  return (bytes + chunk_bytes_ - 1) / chunk_bytes_ * chunk_bytes_;
}

std::shared_ptr<Workspace::Block> Workspace::Allocate(uint64_t bytes) const {
  uint64_t size = Rounded(bytes);
  tensorflow::AllocationAttributes now_or_never(/*retry_on_failure=*/false, /*allocation_will_be_logged=*/false,
                                                /*freed_by_func=*/nullptr);
  void* data = size == bytes ? nullptr : allocator_->AllocateRaw(hal::kDeviceAlignment, size, now_or_never);
  if (data == nullptr) {
    size = bytes;
    data = allocator_->AllocateRaw(hal::kDeviceAlignment, size);
  }
  VLOG(1) << (data == nullptr ? "Cannot allocate" : "Allocated") << " a workspace of " << size
          << " bytes for a recipe that needs " << bytes << " bytes";
  return data == nullptr ? nullptr : std::make_shared<Block>(allocator_, data, size);
}

}  // namespace hpu
