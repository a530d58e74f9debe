// ProcessDevice: the one HPU that this process holds, behind every Device object of TensorFlow.
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

// Device address of `tensor`'s data; 0 for a tensor without bytes. The tensor must lie on the HPU.
inline hal::DeviceAddress AddressOf(const tensorflow::Tensor& tensor) {
  return tensor.TotalBytes() == 0 ? 0 : reinterpret_cast<hal::DeviceAddress>(tensor.tensor_data().data());
}

// Acquired at first use and never destroyed: the eager context, every Session and every listing of devices share it,
// and TensorFlow may still free tensors while the process ends. Thread safe.
//
// Order: work on compute() runs in queueing order. A copy to the device runs after the compute work queued before it
// and before the compute work queued after it. A copy to the host runs after the compute work queued before it.
// CopyToDeviceAsync requires new memory and is ordered only with the users of that memory. Device memory may therefore
// be freed as soon as the work that uses it is queued. The exception is the source of a pending CopyToHost, which must
// stay allocated until the copy ends.
//
// Errors of asynchronous work are returned by the next copy to the host or Synchronize() that waits for that work. The
// streams are then cleared, so that the device can be used again.
class ProcessDevice {
 public:
  // Acquires the device that HPU_BACKEND, HLS_MODULE_ID, HABANA_VISIBLE_MODULES and HPU_MEMORY_MB select. A failure is
  // returned, and the next call tries again. Aborted in a child forked after the acquisition.
  static absl::StatusOr<ProcessDevice*> Get();
  // Returns nullptr if Get never succeeded in this process, and in a forked child.
  static ProcessDevice* GetIfAcquired();

  ProcessDevice(const ProcessDevice&) = delete;
  ProcessDevice& operator=(const ProcessDevice&) = delete;

  hal::Device& hal() { return *device_; }
  const hal::DeviceTraits& traits() const { return traits_; }
  hal::Stream& compute() { return *compute_; }
  hal::Stream& host_to_device() { return *host_to_device_; }
  hal::Stream& device_to_host() { return *device_to_host_; }
  EventPool& events() { return *events_; }
  // For the recipes on compute().
  Workspace& workspace() { return *workspace_; }

  // Whether `data` points into this device's memory; host tensors do not.
  bool Owns(const void* data) const {
    return reinterpret_cast<hal::DeviceAddress>(data) - memory_->address() < memory_->size();
  }

  // All device memory, best fit with coalescing. Addresses are device addresses: reading one on the host faults.
  tensorflow::Allocator* allocator();
  // Host memory that the device may reach; the CPU's own memory once the pool (TF_CPU_ALLOCATOR_SIZE_G) is used up.
  tensorflow::Allocator* host_allocator();
  // The arena and the pool behind the two allocators above. Prefer the allocators: they outlive the acquisition and
  // handle forks.
  tensorflow::Allocator& arena() { return *arena_; }
  HostPool& host_pool() { return *host_pool_; }

  // Queues a copy to the device. `source` may be reused when the call returns.
  absl::Status CopyToDevice(const void* source, hal::DeviceAddress destination, uint64_t bytes);
  // The same from a piece of the host pool, without waiting for the copy. The copy holds `staging` until its end.
  absl::Status CopyToDeviceStaged(std::shared_ptr<void> staging, hal::DeviceAddress destination, uint64_t bytes);
  // Like CopyToDevice, but into memory without any queued use since its allocation. The copy runs in parallel with
  // other work, and the call does not wait for a source that is used in place. `done` runs when the source may be
  // reused, on the caller's thread or on a thread of the plugin. `done` may take locks.
  void CopyToDeviceAsync(const void* source, hal::DeviceAddress destination, uint64_t bytes,
                         std::function<void(absl::Status)> done);

  // Copies to the host. `done` runs on a thread of the plugin. It may take locks but should not wait for other copies.
  void CopyToHost(hal::DeviceAddress source, void* destination, uint64_t bytes, std::function<void(absl::Status)> done);
  // Like CopyToHost, but waits for the copy.
  absl::Status CopyToHostSync(hal::DeviceAddress source, void* destination, uint64_t bytes);

  // Queues a copy within the device on the compute stream. The ranges must not overlap.
  absl::Status CopyOnDevice(hal::DeviceAddress source, hal::DeviceAddress destination, uint64_t bytes);

  // Makes `stream`, which belongs to the caller, wait for the pending copies to the range. (The device's own streams
  // wait for them by themselves.)
  absl::Status OrderAfterCopies(hal::DeviceAddress address, uint64_t bytes, hal::Stream& stream);

  // Calls `done` on a thread of the plugin once the compute work queued so far has ended.
  void AfterCompute(std::function<void(absl::Status)> done);
  // Ends the wait for running work, where the backend can (hal/device_traits.h).
  void Interrupt();
  // Waits for all queued work; returns its first error.
  absl::Status Synchronize();

 private:
  ProcessDevice();
  ~ProcessDevice();  // only used if the acquisition fails half way
  static absl::StatusOr<ProcessDevice*> Acquire();
  absl::Status Initialize(std::unique_ptr<hal::Device> device);

  // Host memory that receives a copy and that the device can access.
  struct HostTarget {
    void* data = nullptr;
    std::shared_ptr<void> staging;             // where `data` is a piece of the pool, to be copied on
    std::shared_ptr<hal::HostBuffer> mapping;  // where the caller's memory is mapped for the copy
  };

  // Returns a stream that runs after the compute work queued so far: the compute stream itself for few bytes.
  absl::StatusOr<hal::Stream*> StreamAfterCompute(hal::Stream& preferred, uint64_t bytes);
  bool ComputeIsIdle();
  // Whether copying through the pool is faster than mapping in place, for a source that the device cannot access.
  bool IsBetterStaged(uint64_t bytes);
  // Queues a copy from accessible host memory, ordered between earlier and later compute work. Returns the copy's
  // stream.
  absl::StatusOr<hal::Stream*> QueueCopyToDevice(const void* source, hal::DeviceAddress destination, uint64_t bytes);
  absl::StatusOr<HostTarget> MakeHostTarget(void* destination, uint64_t bytes);
  absl::StatusOr<hal::Stream*> QueueCopyToHost(hal::DeviceAddress source, const HostTarget& target, uint64_t bytes);
  // Calls `done` on a thread of the plugin with the outcome of the work queued on `stream`. Clears an error first.
  void Complete(hal::Stream& stream, std::function<void(absl::Status)> done);
  // Returns `status`; an error is first cleared from all streams.
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
