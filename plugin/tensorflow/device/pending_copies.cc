#include "plugin/tensorflow/device/pending_copies.h"

#include <algorithm>
#include <utility>

#include "plugin/base/status_macros.h"
#include "plugin/tensorflow/device/stream_wrapper.h"

namespace hpu {

absl::Status PendingCopies::Add(hal::DeviceAddress address, uint64_t bytes, hal::Stream& stream, EventPool& events) {
  HPU_ASSIGN_OR_RETURN(EventPool::Lease ended, events.Record(stream));
  std::lock_guard<std::mutex> lock(mutex_);
  copies_.push_back({address, address + bytes, std::move(ended)});
  count_.store(copies_.size(), std::memory_order_release);
  return absl::OkStatus();
}

absl::Status PendingCopies::WaitFor(hal::DeviceAddress address, uint64_t bytes, hal::Stream& stream) {
  if (!any() || bytes == 0) return absl::OkStatus();
  std::lock_guard<std::mutex> lock(mutex_);
  const auto has_ended = [](const Copy& copy) {
    const absl::StatusOr<bool> reached = copy.ended->Query();
    return reached.ok() && *reached;
  };
  copies_.erase(std::remove_if(copies_.begin(), copies_.end(), has_ended), copies_.end());
  count_.store(copies_.size(), std::memory_order_release);
  for (const Copy& copy : copies_) {
    if (copy.begin < address + bytes && address < copy.end) HPU_RETURN_IF_ERROR(stream.Wait(*copy.ended));
  }
  return absl::OkStatus();
}

void PendingCopies::Clear() {
  std::lock_guard<std::mutex> lock(mutex_);
  copies_.clear();
  count_.store(0, std::memory_order_release);
}

namespace {

class WaitingStream final : public StreamWrapper {
 public:
  WaitingStream(std::unique_ptr<hal::Stream> stream, PendingCopies* copies)
      : StreamWrapper(std::move(stream)), copies_(*copies) {}

  absl::Status CopyToDevice(const void* source, hal::DeviceAddress destination, uint64_t bytes) override {
    HPU_RETURN_IF_ERROR(WaitFor(destination, bytes));
    return inner().CopyToDevice(source, destination, bytes);
  }
  absl::Status CopyToHost(hal::DeviceAddress source, void* destination, uint64_t bytes) override {
    HPU_RETURN_IF_ERROR(WaitFor(source, bytes));
    return inner().CopyToHost(source, destination, bytes);
  }
  absl::Status CopyOnDevice(hal::DeviceAddress source, hal::DeviceAddress destination, uint64_t bytes) override {
    HPU_RETURN_IF_ERROR(WaitFor(source, bytes));
    HPU_RETURN_IF_ERROR(WaitFor(destination, bytes));
    return inner().CopyOnDevice(source, destination, bytes);
  }
  absl::Status Fill(hal::DeviceAddress destination, uint8_t value, uint64_t bytes) override {
    HPU_RETURN_IF_ERROR(WaitFor(destination, bytes));
    return inner().Fill(destination, value, bytes);
  }
  absl::Status Launch(std::shared_ptr<const hal::Recipe> recipe, const hal::LaunchArguments& arguments) override {
    if (copies_.any()) HPU_RETURN_IF_ERROR(WaitForAll(*recipe, arguments));
    return inner().Launch(std::move(recipe), arguments);
  }

 private:
  absl::Status WaitFor(hal::DeviceAddress address, uint64_t bytes) { return copies_.WaitFor(address, bytes, inner()); }

  // Waits for copies to arguments, results and temporaries. Results and temporaries may reuse the memory of a tensor
  // that was freed while a copy to the tensor was pending.
  absl::Status WaitForAll(const hal::Recipe& recipe, const hal::LaunchArguments& arguments) {
    const size_t argument_count = std::min(arguments.arguments.size(), recipe.arguments().size());
    for (size_t i = 0; i < argument_count; ++i) {
      HPU_RETURN_IF_ERROR(WaitFor(arguments.arguments[i], recipe.arguments()[i].bytes));
    }
    const size_t result_count = std::min(arguments.results.size(), recipe.results().size());
    for (size_t i = 0; i < result_count; ++i) {
      HPU_RETURN_IF_ERROR(WaitFor(arguments.results[i], recipe.results()[i].spec.bytes));
    }
    return WaitFor(arguments.workspace, recipe.workspace_bytes());
  }

  PendingCopies& copies_;
};

}  // namespace

std::unique_ptr<hal::Stream> WaitForCopies(std::unique_ptr<hal::Stream> stream, PendingCopies* copies) {
  return std::make_unique<WaitingStream>(std::move(stream), copies);
}

}  // namespace hpu
