// ProcessDevice: the HPU of this process, shared by all Device objects of TensorFlow.
#ifndef HPU_PLUGIN_TENSORFLOW_DEVICE_PROCESS_DEVICE_H_
#define HPU_PLUGIN_TENSORFLOW_DEVICE_PROCESS_DEVICE_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "plugin/hal/device.h"
#include "plugin/tensorflow/device/event_pool.h"
#include "plugin/tensorflow/device/workspace.h"
#include "tensorflow/core/framework/allocator.h"
#include "tensorflow/core/framework/tensor.h"

namespace tsl::thread {
class ThreadPool;
}  // namespace tsl::thread

namespace hpu {

class HostPool;

// Device address of `tensor`'s data; 0 for a tensor without bytes. The tensor must be in HPU memory.
inline hal::DeviceAddress AddressOf(const tensorflow::Tensor& tensor) {
  return tensor.TotalBytes() == 0 ? 0 : reinterpret_cast<hal::DeviceAddress>(tensor.data());
}

// Acquired at first use and never destroyed, because TensorFlow may still free tensors while the process ends. Shared
// by the eager context, every Session and every listing of devices. Thread safe.
//
// Order: work on compute() runs in queueing order. A copy to the device runs after the compute work queued before it
// and before the compute work queued after it. A copy to the host runs after the compute work queued before it.
// CopyToDeviceAsync requires new memory and is ordered only with the users of that memory. Device memory may therefore
// be freed as soon as the work that uses it is queued. The exception is the source of a pending CopyToHost, which must
// stay allocated until the copy ends.
//
// The first copy to the host or Synchronize() that waits for asynchronous work returns the error of that work. The
// streams are then cleared, so that the device can be used again.
class ProcessDevice {
 public:
  // Acquires the device that HPU_BACKEND, HLS_MODULE_ID, HABANA_VISIBLE_MODULES and HPU_MEMORY_MB select. After a
  // failure, the next call tries again. Aborted in a child forked after the acquisition.
  static absl::StatusOr<ProcessDevice*> Get();
  // Returns the error of invalid settings that Get would return. OK if only acquiring the device reveals the error.
  static absl::Status CheckSettings();
  // Returns nullptr before the first success of Get, and in a forked child.
  static ProcessDevice* GetIfAcquired();

  ProcessDevice(const ProcessDevice&) = delete;
  ProcessDevice& operator=(const ProcessDevice&) = delete;

  hal::Device& hal() { return *device_; }
  const hal::DeviceTraits& traits() const { return traits_; }
  hal::Stream& compute() { return *compute_; }
  hal::Stream& host_to_device() { return *host_to_device_; }
  hal::Stream& device_to_host() { return *device_to_host_; }
  EventPool& events() { return *events_; }
  const hal::Memory& memory() const { return *memory_; }
  // Workspace of the recipes on compute().
  Workspace& workspace() { return *workspace_; }

  // Whether `data` points into this device's memory.
  bool Owns(const void* data) const {
    return reinterpret_cast<hal::DeviceAddress>(data) - memory_->address() < memory_->size();
  }

  // Allocator of all device memory, best fit with coalescing. Host code that accesses the memory faults.
  tensorflow::Allocator* allocator();
  // Allocator of host memory that the device can access. Small tensors use CPU memory, as do all tensors once the pool
  // (TF_CPU_ALLOCATOR_SIZE_G) is full.
  tensorflow::Allocator* host_allocator();
  // The arena that allocator() uses, and the pool that host_allocator() uses. Prefer the allocators, which also handle
  // forked children.
  tensorflow::Allocator& arena() { return *arena_; }
  HostPool& host_pool() { return *host_pool_; }

  // Queues a copy to the device. `source` may be reused when the call returns.
  absl::Status CopyToDevice(const void* source, hal::DeviceAddress destination, uint64_t bytes);
  // Queues a copy from memory of the host pool; does not wait for the copy. The copy holds `bounce` until the copy
  // ends.
  absl::Status CopyToDeviceFromBounce(std::shared_ptr<void> bounce, hal::DeviceAddress destination, uint64_t bytes);
  // Like CopyToDevice, but no work may have been queued on the destination since its allocation. The copy may run in
  // parallel with other work, and the call does not wait for the copy. `done` runs when `source` may be reused, on the
  // caller's thread or on a thread of the plugin. `done` may acquire locks.
  void CopyToDeviceAsync(const void* source, hal::DeviceAddress destination, uint64_t bytes,
                         std::function<void(absl::Status)> done);

  // Copies to the host. `done` runs on the caller's thread or on a thread of the plugin. `done` may acquire locks but
  // should not wait for other copies.
  void CopyToHost(hal::DeviceAddress source, void* destination, uint64_t bytes, std::function<void(absl::Status)> done);
  // Like CopyToHost, but waits for the copy.
  absl::Status CopyToHostSync(hal::DeviceAddress source, void* destination, uint64_t bytes);

  // Queues a copy within the device on the compute stream. The ranges must not overlap.
  absl::Status CopyOnDevice(hal::DeviceAddress source, hal::DeviceAddress destination, uint64_t bytes);

  // Makes `stream`, which belongs to the caller, wait for the pending copies to the range. The device's own streams
  // always wait for pending copies.
  absl::Status OrderAfterCopies(hal::DeviceAddress address, uint64_t bytes, hal::Stream& stream);

  // Whether the compute work queued so far has ended, without an error.
  bool ComputeIsIdle();
  // Calls `done` on a thread of the plugin once the compute work queued so far has ended. If the stream accepts no
  // callback, immediately calls `done` with the error.
  void AfterCompute(std::function<void(absl::Status)> done);
  // Interrupts a thread that waits for work, if the backend supports interruption (hal/device_traits.h). The device is
  // then lost.
  void Interrupt();
  // Waits for the work queued on compute(), host_to_device() and device_to_host(). Returns the first error.
  absl::Status Synchronize();

 private:
  ProcessDevice();
  ~ProcessDevice();  // only used if the acquisition fails half way
  static absl::StatusOr<ProcessDevice*> Acquire();
  absl::Status Initialize(std::unique_ptr<hal::Device> device);

  // Destination of a copy to the host, in memory that the device can access.
  struct HostTarget {
    void* data = nullptr;
    std::shared_ptr<void> bounce;              // set if `data` is a bounce buffer from the host pool
    std::shared_ptr<hal::HostBuffer> mapping;  // set if the caller's memory is mapped for the copy
  };

  // Returns `preferred`, ordered after the compute work queued so far; for small copies, the compute stream itself.
  absl::StatusOr<hal::Stream*> StreamAfterCompute(hal::Stream& preferred, uint64_t bytes);
  // Whether a copy through the pool is faster than mapping a source that the device cannot access.
  bool IsBetterBounced(uint64_t bytes);
  // Queues a copy from host memory that the device can access, ordered between earlier and later compute work. Returns
  // the copy's stream.
  absl::StatusOr<hal::Stream*> QueueCopyToDevice(const void* source, hal::DeviceAddress destination, uint64_t bytes);
  absl::StatusOr<HostTarget> MakeHostTarget(void* destination, uint64_t bytes);
  absl::StatusOr<hal::Stream*> QueueCopyToHost(hal::DeviceAddress source, const HostTarget& target, uint64_t bytes);
  // Calls `done` on a thread of the plugin with the outcome of the work queued on `stream`. First clears an error of
  // this work from all streams. If `stream` accepts no callback, immediately calls `done` with the error.
  void Complete(hal::Stream& stream, std::function<void(absl::Status)> done);
  // Returns `status`. If `status` is an error, first clears the error from all streams.
  absl::Status Cleared(absl::Status status);

  std::unique_ptr<hal::Device> device_;
  hal::DeviceTraits traits_;
  std::unique_ptr<hal::Memory> memory_;
  std::unique_ptr<tensorflow::Allocator> arena_;
  std::unique_ptr<HostPool> host_pool_;
  std::unique_ptr<hal::Stream> compute_;
  std::unique_ptr<hal::Stream> host_to_device_;
  std::unique_ptr<hal::Stream> device_to_host_;
  std::unique_ptr<EventPool> events_;
  std::unique_ptr<Workspace> workspace_;
  std::unique_ptr<tsl::thread::ThreadPool> completions_;
};

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_DEVICE_PROCESS_DEVICE_H_
