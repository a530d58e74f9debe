// NullStream: stream of the null backend. Calls check their arguments and complete immediately.
#ifndef HPU_PLUGIN_BACKENDS_NULL_STREAM_H_
#define HPU_PLUGIN_BACKENDS_NULL_STREAM_H_

#include <atomic>
#include <memory>
#include <mutex>

#include "plugin/backends/common/faults.h"
#include "plugin/hal/stream.h"

namespace hpu::null {

class NullDevice;

// Launches compute nothing. Copies move only the values in the device's HostValues, if the device has them. CopyToHost
// writes zeros for all other bytes, so that programs read the same values in every run. There are no threads and no
// queue.
class NullStream final : public hal::Stream {
 public:
  NullStream(NullDevice* device, hal::StreamKind kind) : device_(device), kind_(kind) {}

  hal::StreamKind kind() const override { return kind_; }
  absl::Status CopyToDevice(const void* source, hal::DeviceAddress destination, uint64_t bytes) override;
  absl::Status CopyToHost(hal::DeviceAddress source, void* destination, uint64_t bytes) override;
  absl::Status CopyOnDevice(hal::DeviceAddress source, hal::DeviceAddress destination, uint64_t bytes) override;
  absl::Status Fill(hal::DeviceAddress destination, uint8_t value, uint64_t bytes) override;
  absl::Status Launch(std::shared_ptr<const hal::Recipe> recipe, const hal::LaunchArguments& arguments) override;
  absl::Status Record(hal::Event& event) override;
  absl::Status Wait(const hal::Event& event) override;
  absl::Status AddCallback(std::function<void(absl::Status)> callback) override;
  absl::Status Synchronize() override;

 private:
  // Counts a command of this kind and returns whether it runs: false after an error or an injected fault. `name`: the
  // recipe's name, for launches only.
  bool Begin(common::Faults::Kind kind, const std::string* name = nullptr);
  void Fail(absl::Status status);
  absl::Status CurrentError() const;

  NullDevice* const device_;
  const hal::StreamKind kind_;
  std::atomic<bool> failed_{false};  // whether error_ is an error
  mutable std::mutex mutex_;
  absl::Status error_;  // guarded by mutex_
};

}  // namespace hpu::null

#endif  // HPU_PLUGIN_BACKENDS_NULL_STREAM_H_
