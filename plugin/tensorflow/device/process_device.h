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

// The address at which `tensor`'s data lie on the device; 0 for a tensor without bytes. The tensor must lie on the HPU.
inline hal::DeviceAddress AddressOf(const tensorflow::Tensor& tensor) {
  return tensor.TotalBytes() == 0 ? 0 : reinterpret_cast<hal::DeviceAddress>(tensor.tensor_data().data());
}

// Acquired at first use and never destroyed: the eager context, every Session and every listing of devices share it,
// and TensorFlow may still free tensors while the process ends. Thread safe.
//
// Order: work on compute() runs as queued. Copies to the device are ordered between the compute work queued before and
// after them, copies to the host after the compute work queued before them. CopyToDeviceAsync, which wants new memory,
// is ordered with what uses that memory alone. Hence device memory may be freed as soon as the work that uses it is
// queued, except that what a pending CopyToHost reads must stay allocated until its end.
//
// Errors of asynchronous work are returned by the next copy to the host or Synchronize() that waits for that work. The
// streams are then cleared, so that the device can be used again.
class ProcessDevice {
 public:
  // Acquires the device as HPU_BACKEND, HLS_MODULE_ID, HABANA_VISIBLE_MODULES and HPU_MEMORY_MB say. A failure is
  // returned and tried again at the next call. Aborted in a child forked after the acquisition.
  static absl::StatusOr<ProcessDevice*> Get();
  // nullptr if Get never succeeded in this process, or in a forked child.
  static ProcessDevice* GetIfAcquired();

  ProcessDevice(const ProcessDevice&) = delete;
  ProcessDevice& operator=(const ProcessDevice&) = delete;

  hal::Device& hal() { return *device_; }
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
  // What the two stand on. Allocators that outlive the acquisition and know of forks are better: use those above.
  tensorflow::Allocator& arena() { return *arena_; }
  HostPool& host_pool() { return *host_pool_; }

  // Queues a copy to the device. `source` may be reused when the call returns.
  absl::Status CopyToDevice(const void* source, hal::DeviceAddress destination, uint64_t bytes);
  // The same from a piece of the host pool, which the copy holds until its end: the call does not wait for that.
  absl::Status CopyToDeviceStaged(std::shared_ptr<void> staging, hal::DeviceAddress destination, uint64_t bytes);
  // As CopyToDevice, into memory that nothing was queued for since it was allocated, beside the work of others, and
  // without waiting for a source that is used in place: `done` runs when it may be reused, on the caller's thread or on
  // one of the plugin's, which may take locks.
  void CopyToDeviceAsync(const void* source, hal::DeviceAddress destination, uint64_t bytes,
                         std::function<void(absl::Status)> done);

  // Copies to the host. `done` runs on a thread of the plugin, which may take locks but should not wait for other
  // copies.
  void CopyToHost(hal::DeviceAddress source, void* destination, uint64_t bytes, std::function<void(absl::Status)> done);
  // The same, waited for.
  absl::Status CopyToHostSync(hal::DeviceAddress source, void* destination, uint64_t bytes);

  // Queues a copy within the device on the compute stream. The ranges must not overlap.
  absl::Status CopyOnDevice(hal::DeviceAddress source, hal::DeviceAddress destination, uint64_t bytes);

  // Holds later work of `stream`, one of the caller's own, back until the copies that are pending to the range have
  // ended. (Work on the device's streams waits for them by itself.)
  absl::Status OrderAfterCopies(hal::DeviceAddress address, uint64_t bytes, hal::Stream& stream);

  // Calls `done` on a thread of the plugin once the compute work queued so far has ended.
  void AfterCompute(std::function<void(absl::Status)> done);
  // Ends the waiting for work that runs, where the backend can (hal/interruptible.h).
  void Interrupt();
  // Waits for all queued work; returns the first error of it.
  absl::Status Synchronize();

 private:
  ProcessDevice();
  ~ProcessDevice();  // only if the acquisition fails half way
  static absl::StatusOr<ProcessDevice*> Acquire();
  absl::Status Initialize(std::unique_ptr<hal::Device> device);

  // Reachable memory that a copy to the host goes to.
  struct HostTarget {
    void* data = nullptr;
    std::shared_ptr<void> staging;             // where `data` is a piece of the pool, to be copied on
    std::shared_ptr<hal::HostBuffer> mapping;  // where the caller's memory is mapped for the copy
  };

  // A stream that runs after the compute work queued so far: the compute stream itself for few bytes.
  absl::StatusOr<hal::Stream*> StreamAfterCompute(hal::Stream& preferred, uint64_t bytes);
  bool ComputeIsIdle();
  // Whether a source that the device cannot reach is better copied through the pool than mapped in place.
  bool IsBetterStaged(uint64_t bytes);
  // Queues the copy of reachable host memory, ordered between earlier and later compute work. Gives its stream.
  absl::StatusOr<hal::Stream*> QueueCopyToDevice(const void* source, hal::DeviceAddress destination, uint64_t bytes);
  absl::StatusOr<HostTarget> MakeHostTarget(void* destination, uint64_t bytes);
  absl::StatusOr<hal::Stream*> QueueCopyToHost(hal::DeviceAddress source, const HostTarget& target, uint64_t bytes);
  // Calls `done` on a thread of the plugin with the outcome of the work queued on `stream`, after clearing an error.
  void Complete(hal::Stream& stream, std::function<void(absl::Status)> done);
  // Passes `status` on; an error is first cleared from all streams.
  absl::Status Cleared(absl::Status status);

  std::unique_ptr<hal::Device> device_;
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
