// StreamWrapper: base class of streams that forward their calls to another stream.
#ifndef HPU_PLUGIN_TENSORFLOW_DEVICE_STREAM_WRAPPER_H_
#define HPU_PLUGIN_TENSORFLOW_DEVICE_STREAM_WRAPPER_H_

#include <functional>
#include <memory>
#include <utility>

#include "plugin/hal/stream.h"

namespace hpu {

class StreamWrapper : public hal::Stream {
 public:
  hal::StreamKind kind() const override { return stream_->kind(); }
  absl::Status CopyToDevice(const void* source, hal::DeviceAddress destination, uint64_t bytes) override {
    return stream_->CopyToDevice(source, destination, bytes);
  }
  absl::Status CopyToHost(hal::DeviceAddress source, void* destination, uint64_t bytes) override {
    return stream_->CopyToHost(source, destination, bytes);
  }
  absl::Status CopyOnDevice(hal::DeviceAddress source, hal::DeviceAddress destination, uint64_t bytes) override {
    return stream_->CopyOnDevice(source, destination, bytes);
  }
  absl::Status Fill(hal::DeviceAddress destination, uint8_t value, uint64_t bytes) override {
    return stream_->Fill(destination, value, bytes);
  }
  absl::Status Launch(std::shared_ptr<const hal::Recipe> recipe, const hal::LaunchArguments& arguments) override {
    return stream_->Launch(std::move(recipe), arguments);
  }
  absl::Status Record(hal::Event& event) override { return stream_->Record(event); }
  absl::Status Wait(const hal::Event& event) override { return stream_->Wait(event); }
  absl::Status AddCallback(std::function<void(absl::Status)> callback) override {
    return stream_->AddCallback(std::move(callback));
  }
  absl::Status Synchronize() override { return stream_->Synchronize(); }

 protected:
  explicit StreamWrapper(std::unique_ptr<hal::Stream> stream) : stream_(std::move(stream)) {}
  hal::Stream& inner() { return *stream_; }

 private:
  const std::unique_ptr<hal::Stream> stream_;
};

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_DEVICE_STREAM_WRAPPER_H_
