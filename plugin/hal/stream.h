// Stream: a queue of device work that runs in order.
#ifndef HPU_PLUGIN_HAL_STREAM_H_
#define HPU_PLUGIN_HAL_STREAM_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "plugin/hal/event.h"
#include "plugin/hal/recipe.h"
#include "plugin/hal/types.h"

namespace hpu::hal {

// Main purpose of a stream. Launches need a compute stream. Otherwise the kind is a hint for the card's engines: every
// stream accepts every kind of copy.
enum class StreamKind { kCompute, kHostToDevice, kDeviceToHost };

// Addresses of one launch. The arrays are copied before Launch returns.
struct LaunchArguments {
  absl::Span<const DeviceAddress> arguments;  // one per Recipe::arguments(); 0 only for an argument of 0 bytes
  absl::Span<const DeviceAddress> results;    // one per Recipe::results(); the argument's address if aliased
  DeviceAddress workspace = 0;  // Recipe::workspace_bytes() bytes of memory; 0 if the recipe needs no workspace
};

// All calls queue work and return. Invalid arguments fail immediately with InvalidArgument, which names the value and
// the bound. The queue is bounded: a call blocks while the queue is full. Work runs in the order of the calls. Several
// threads may queue.
//
// Errors of running work: after the first error, the stream skips all later work with this error until Synchronize()
// returns and clears the error. Events recorded in between pass the error on to waiters, including other streams.
// Callbacks always run. Launch errors name the recipe.
//
// Destruction waits for queued work.
class Stream {
 public:
  virtual ~Stream() = default;

  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  virtual StreamKind kind() const = 0;

  // Copies `bytes` bytes. The host range must be within one HostBuffer of the device, the device range within one
  // Memory. `bytes` may be 0. Host memory must stay valid and, for copies to the device, unchanged until the copy has
  // ended.
  virtual absl::Status CopyToDevice(const void* source, DeviceAddress destination, uint64_t bytes) = 0;
  virtual absl::Status CopyToHost(DeviceAddress source, void* destination, uint64_t bytes) = 0;
  virtual absl::Status CopyOnDevice(DeviceAddress source, DeviceAddress destination, uint64_t bytes) = 0;
  // Sets every byte of the range to `value`.
  virtual absl::Status Fill(DeviceAddress destination, uint8_t value, uint64_t bytes) = 0;

  virtual absl::Status Launch(std::shared_ptr<const Recipe> recipe, const LaunchArguments& arguments) = 0;

  // Marks the end of the work queued so far.
  virtual absl::Status Record(Event& event) = 0;
  // Later work waits for the point at which `event` was last recorded.
  virtual absl::Status Wait(const Event& event) = 0;
  // Runs `callback` once all earlier work has ended, with the stream's error, if any. The callback runs on a thread of
  // the backend, or on the calling thread if the earlier work has already ended. The caller must therefore not hold a
  // lock that the callback acquires. The callback must not block and must not call the HAL.
  virtual absl::Status AddCallback(std::function<void(absl::Status)> callback) = 0;

  // Blocks until all work queued so far has ended. Returns and clears the stream's error.
  virtual absl::Status Synchronize() = 0;

 protected:
  Stream() = default;
};

}  // namespace hpu::hal

#endif  // HPU_PLUGIN_HAL_STREAM_H_
