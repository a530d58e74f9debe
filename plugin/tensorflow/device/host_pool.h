// HostPool: a pool of host memory that the device can access.
#ifndef HPU_PLUGIN_TENSORFLOW_DEVICE_HOST_POOL_H_
#define HPU_PLUGIN_TENSORFLOW_DEVICE_HOST_POOL_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "plugin/hal/device.h"
#include "plugin/hal/host_buffer.h"
#include "tensorflow/core/framework/allocator.h"

namespace hpu {

// A HostBuffer and an allocator for the buffer's memory. Copies between the pool and the device need no further
// mapping. Thread safe.
class HostPool {
 public:
  // Deleter that returns memory to the pool.
  class Free {
   public:
    explicit Free(HostPool* pool = nullptr) : pool_(pool) {}
    void operator()(void* data) const { pool_->allocator_->DeallocateRaw(data); }

   private:
    HostPool* pool_;
  };
  using BounceBuffer = std::unique_ptr<void, Free>;

  // Sized by TF_CPU_ALLOCATOR_SIZE_G; smaller if the device cannot map this much memory.
  static absl::StatusOr<std::unique_ptr<HostPool>> Create(hal::Device& device);

  // Returns null if the pool has no room. The caller then maps other memory or uses memory that the device cannot
  // access.
  BounceBuffer Allocate(uint64_t bytes);
  bool Contains(const void* data, uint64_t bytes) const;

  tensorflow::Allocator& allocator() { return *allocator_; }
  uint64_t size() const { return buffer_->size(); }  // bytes

 private:
  explicit HostPool(std::unique_ptr<hal::HostBuffer> buffer);

  std::unique_ptr<hal::HostBuffer> buffer_;
  std::unique_ptr<tensorflow::Allocator> allocator_;
};

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_DEVICE_HOST_POOL_H_
