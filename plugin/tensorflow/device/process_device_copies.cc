// Copies and waits of ProcessDevice.
#include <cstring>
#include <utility>

#include "plugin/base/status_macros.h"
#include "plugin/tensorflow/device/device_arena.h"
#include "plugin/tensorflow/device/host_pool.h"
#include "plugin/tensorflow/device/process_device.h"
#include "tsl/platform/threadpool.h"

namespace hpu {
namespace {

using Done = std::function<void(absl::Status)>;

// Maximum size of a host copy on the compute stream: for small copies, events between streams cost more than the copy.
constexpr uint64_t kInlineBytes = 64 << 10;
// Maximum size of a copy through the pool for memory that the device cannot access. Mapping a smaller range costs more
// than the extra copy.
constexpr uint64_t kBouncedBytes = 1 << 20;
// Like kBouncedBytes, for copies to a busy device. A copy from mapped memory would make the caller wait until the
// computation ends.
constexpr uint64_t kBouncedWhileBusyBytes = 64 << 20;

// Whether the work queued on the stream so far has ended, without an error.
bool HasEnded(hal::Stream& stream, EventPool& events) {
  absl::StatusOr<EventPool::Lease> end = events.Record(stream);
  if (!end.ok()) return false;
  const absl::StatusOr<bool> reached = (*end)->Query();
  return reached.ok() && *reached;
}

// Keeps `bounce` until the work queued on the stream has ended. Adds no callback for work that has already ended,
// because a callback wakes the stream's thread.
absl::Status KeepUntilEnd(std::shared_ptr<void> bounce, hal::Stream& stream, EventPool& events) {
  if (HasEnded(stream, events)) return absl::OkStatus();
  return stream.AddCallback([bounce = std::move(bounce)](absl::Status) {});
}

// Queues a copy into memory that was allocated for this copy, and returns the copy's stream. A copy of more than
// kInlineBytes can run in parallel with a step. Such a copy waits only for work that still uses the memory's previous
// contents. Only work on the memory waits for the copy.
absl::StatusOr<hal::Stream*> QueueToNewMemory(ProcessDevice& device, const void* source, hal::DeviceAddress destination,
                                              uint64_t bytes) {
  hal::Stream* const stream = bytes <= kInlineBytes ? &device.compute() : &device.host_to_device();
  auto& arena = static_cast<DeviceArena&>(device.arena());
  if (stream != &device.compute()) {
    HPU_RETURN_IF_ERROR(arena.freed().WaitForUsers(destination, bytes, device.compute(), *stream, device.events()));
  }
  HPU_RETURN_IF_ERROR(stream->CopyToDevice(source, destination, bytes));
  if (stream != &device.compute()) {
    HPU_RETURN_IF_ERROR(arena.copies().Add(destination, bytes, *stream, device.events()));
  }
  return stream;
}

}  // namespace

absl::StatusOr<hal::Stream*> ProcessDevice::StreamAfterCompute(hal::Stream& preferred, uint64_t bytes) {
  if (bytes <= kInlineBytes) return compute_.get();
  HPU_RETURN_IF_ERROR(events_->Order(*compute_, preferred));
  return &preferred;
}

bool ProcessDevice::ComputeIsIdle() { return HasEnded(*compute_, *events_); }

bool ProcessDevice::IsBetterBounced(uint64_t bytes) {
  if (traits_.copies_are_staged) return false;
  return bytes <= kBouncedBytes || (bytes <= kBouncedWhileBusyBytes && !ComputeIsIdle());
}

absl::StatusOr<hal::Stream*> ProcessDevice::QueueCopyToDevice(const void* source, hal::DeviceAddress destination,
                                                              uint64_t bytes) {
  HPU_ASSIGN_OR_RETURN(hal::Stream * stream, StreamAfterCompute(*host_to_device_, bytes));
  HPU_RETURN_IF_ERROR(stream->CopyToDevice(source, destination, bytes));
  if (stream != compute_.get()) HPU_RETURN_IF_ERROR(events_->Order(*stream, *compute_));
  return stream;
}

absl::Status ProcessDevice::CopyToDeviceFromBounce(std::shared_ptr<void> bounce, hal::DeviceAddress destination,
                                                   uint64_t bytes) {
  HPU_ASSIGN_OR_RETURN(hal::Stream * stream, QueueCopyToDevice(bounce.get(), destination, bytes));
  if (traits_.copies_are_staged) return absl::OkStatus();  // the copy has already read `bounce`
  // The stream passes an error on to the work that uses the destination.
  return KeepUntilEnd(std::move(bounce), *stream, *events_);
}

absl::Status ProcessDevice::CopyToDevice(const void* source, hal::DeviceAddress destination, uint64_t bytes) {
  if (bytes == 0) return absl::OkStatus();
  if (IsBetterBounced(bytes)) {
    if (HostPool::BounceBuffer bounce = host_pool_->Allocate(bytes)) {
      std::memcpy(bounce.get(), source, bytes);
      return CopyToDeviceFromBounce(std::move(bounce), destination, bytes);
    }
  }
  std::unique_ptr<hal::HostBuffer> mapping;
  if (!host_pool_->Contains(source, bytes)) {
    HPU_ASSIGN_OR_RETURN(mapping, device_->MapHost(const_cast<void*>(source), bytes));
  }
  HPU_ASSIGN_OR_RETURN(hal::Stream * stream, QueueCopyToDevice(source, destination, bytes));
  if (traits_.copies_are_staged) return absl::OkStatus();  // `source` was read; errors: see CopyToDeviceFromBounce
  HPU_ASSIGN_OR_RETURN(EventPool::Lease end, events_->Record(*stream));
  return Cleared(end->Synchronize());
}

void ProcessDevice::CopyToDeviceAsync(const void* source, hal::DeviceAddress destination, uint64_t bytes, Done done) {
  if (bytes == 0) return done(absl::OkStatus());
  const bool reachable = host_pool_->Contains(source, bytes);
  HostPool::BounceBuffer bounce = !reachable && IsBetterBounced(bytes) ? host_pool_->Allocate(bytes) : nullptr;
  if (bounce != nullptr) std::memcpy(bounce.get(), source, bytes);
  std::shared_ptr<hal::HostBuffer> mapping;
  if (!reachable && bounce == nullptr) {
    absl::StatusOr<std::unique_ptr<hal::HostBuffer>> mapped = device_->MapHost(const_cast<void*>(source), bytes);
    if (!mapped.ok()) return done(mapped.status());
    mapping = *std::move(mapped);
  }
  absl::StatusOr<hal::Stream*> stream =
      QueueToNewMemory(*this, bounce != nullptr ? bounce.get() : source, destination, bytes);
  if (!stream.ok()) return done(stream.status());
  // The source has been read. The stream passes an error on to the work that uses the destination.
  if (traits_.copies_are_staged) return done(absl::OkStatus());
  if (bounce != nullptr) {
    return done(KeepUntilEnd(std::move(bounce), **stream, *events_));
  }
  Complete(**stream, [mapping = std::move(mapping), done = std::move(done)](absl::Status status) mutable {
    mapping.reset();
    done(std::move(status));
  });
}

void ProcessDevice::CopyToHost(hal::DeviceAddress source, void* destination, uint64_t bytes, Done done) {
  if (bytes == 0) return done(absl::OkStatus());
  if (bytes <= kInlineBytes && ComputeIsIdle()) return done(CopyToHostSync(source, destination, bytes));
  absl::StatusOr<HostTarget> target = MakeHostTarget(destination, bytes);
  if (!target.ok()) return done(target.status());
  absl::StatusOr<hal::Stream*> stream = QueueCopyToHost(source, *target, bytes);
  if (!stream.ok()) return done(stream.status());
  Complete(**stream,
           [target = *std::move(target), destination, bytes, done = std::move(done)](absl::Status status) mutable {
             if (status.ok() && target.bounce != nullptr) std::memcpy(destination, target.bounce.get(), bytes);
             target = HostTarget();
             done(std::move(status));
           });
}

absl::Status ProcessDevice::CopyToHostSync(hal::DeviceAddress source, void* destination, uint64_t bytes) {
  if (bytes == 0) return absl::OkStatus();
  HPU_ASSIGN_OR_RETURN(const HostTarget target, MakeHostTarget(destination, bytes));
  HPU_ASSIGN_OR_RETURN(hal::Stream * stream, QueueCopyToHost(source, target, bytes));
  HPU_ASSIGN_OR_RETURN(EventPool::Lease end, events_->Record(*stream));
  HPU_RETURN_IF_ERROR(Cleared(end->Synchronize()));
  if (target.bounce != nullptr) std::memcpy(destination, target.bounce.get(), bytes);
  return absl::OkStatus();
}

absl::StatusOr<ProcessDevice::HostTarget> ProcessDevice::MakeHostTarget(void* destination, uint64_t bytes) {
  HostTarget target;
  target.data = destination;
  if (host_pool_->Contains(destination, bytes)) return target;
  if (bytes <= kBouncedBytes && !traits_.copies_are_staged) {
    if (HostPool::BounceBuffer bounce = host_pool_->Allocate(bytes)) {
      target.bounce = std::move(bounce);
      target.data = target.bounce.get();
      return target;
    }
  }
  HPU_ASSIGN_OR_RETURN(target.mapping, device_->MapHost(destination, bytes));
  return target;
}

absl::StatusOr<hal::Stream*> ProcessDevice::QueueCopyToHost(hal::DeviceAddress source, const HostTarget& target,
                                                            uint64_t bytes) {
  HPU_ASSIGN_OR_RETURN(hal::Stream * stream, StreamAfterCompute(*device_to_host_, bytes));
  HPU_RETURN_IF_ERROR(stream->CopyToHost(source, target.data, bytes));
  return stream;
}

absl::Status ProcessDevice::CopyOnDevice(hal::DeviceAddress source, hal::DeviceAddress destination, uint64_t bytes) {
  if (bytes == 0) return absl::OkStatus();
  return compute_->CopyOnDevice(source, destination, bytes);
}

absl::Status ProcessDevice::OrderAfterCopies(hal::DeviceAddress address, uint64_t bytes, hal::Stream& stream) {
  return static_cast<DeviceArena&>(*arena_).copies().WaitFor(address, bytes, stream);
}

void ProcessDevice::AfterCompute(Done done) { Complete(*compute_, std::move(done)); }

void ProcessDevice::Complete(hal::Stream& stream, Done done) {
  auto shared = std::make_shared<Done>(std::move(done));
  absl::Status queued = stream.AddCallback([this, shared](absl::Status status) {
    // The stream's thread may neither acquire TensorFlow's locks nor call the HAL.
    completions_->Schedule([this, shared, status = std::move(status)] { (*shared)(Cleared(status)); });
  });
  if (!queued.ok()) (*shared)(queued);
}

absl::Status ProcessDevice::Cleared(absl::Status status) {
  if (!status.ok()) Synchronize().IgnoreError();  // clears the error from all streams that waited for the failed work
  return status;
}

absl::Status ProcessDevice::Synchronize() {
  // Streams that wait for each other share errors. The compute stream is first, because most errors occur there.
  absl::Status status = compute_->Synchronize();
  status.Update(host_to_device_->Synchronize());
  status.Update(device_to_host_->Synchronize());
  if (!status.ok()) {  // the caller reports the error; later work must not see the error again
    auto& arena = static_cast<DeviceArena&>(*arena_);
    arena.copies().Clear();
    arena.freed().Clear();
  }
  return status;
}

}  // namespace hpu
