// DeviceTraits: optional capabilities of a device.
#ifndef HPU_PLUGIN_HAL_DEVICE_TRAITS_H_
#define HPU_PLUGIN_HAL_DEVICE_TRAITS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "plugin/hal/types.h"

namespace hpu::hal {

// Writes results of launches directly to host memory, so that results for the host need no copy. Thread safe.
class HostResults {
 public:
  // Alignment of results in host memory. A launch may overwrite the memory between a result's end and the next
  // multiple.
  static constexpr uint64_t kHostResultAlignment = 64;

  virtual ~HostResults() = default;

  // Allows addresses of mapped host memory in LaunchArguments::results, except for results that alias an argument. By
  // default, host addresses are refused, because clients of a device server send result addresses. Clients must not
  // reach the server's memory.
  virtual void EnableHostResults() = 0;

 protected:
  HostResults() = default;
};

// Gives host threads access to device memory, without copies. Thread safe.
class HostView {
 public:
  virtual ~HostView() = default;

  // The host address of device memory, at a constant distance. No queued work may use the memory during an access.
  virtual char* HostAddressOf(DeviceAddress address) const = 0;

 protected:
  HostView() = default;
};

// Interrupts a thread that waits for work. Thread safe.
class Interruptible {
 public:
  virtual ~Interruptible() = default;

  // Does nothing if no thread waits. Otherwise the device is lost, and all its calls fail with Cancelled.
  virtual void Interrupt() = 0;

 protected:
  Interruptible() = default;
};

// Frees ranges of device memory before the owning Memory is destroyed. Thread safe.
class FreedRanges {
 public:
  virtual ~FreedRanges() = default;

  // The caller will not read the range again until new data are written, so the contents become undefined. Queued work
  // may still use the range. If the device maps addresses to buffers, it frees the buffers.
  virtual void RangeFreed(DeviceAddress address, uint64_t bytes) = 0;

 protected:
  FreedRanges() = default;
};

// Records the activity of the device: kernels and copies, with times. One record at a time. Thread safe.
class ActivityRecorder {
 public:
  virtual ~ActivityRecorder() = default;

  // Begins a record. `options`: a serialised tensorflow.ProfileOptions. FailedPrecondition if a record is running.
  virtual absl::Status StartRecord(absl::string_view options) = 0;
  // Ends the record and returns a serialised tensorflow.profiler.XSpace.
  virtual absl::StatusOr<std::string> TakeRecord() = 0;

 protected:
  ActivityRecorder() = default;
};

// Properties and optional interfaces of a device; null: not supported. The interfaces live as long as the device.
struct DeviceTraits {
  // Stream::CopyToDevice has read the source on return, and MapHost costs nothing. Callers may therefore reuse the
  // source immediately and need no bounce buffer.
  bool copies_are_staged = false;
  HostResults* host_results = nullptr;
  const HostView* host_view = nullptr;
  Interruptible* interruptible = nullptr;
  FreedRanges* freed_ranges = nullptr;
  ActivityRecorder* activity_recorder = nullptr;
};

}  // namespace hpu::hal

#endif  // HPU_PLUGIN_HAL_DEVICE_TRAITS_H_
