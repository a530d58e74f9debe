#include "plugin/backends/null/stream.h"

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "plugin/backends/null/device.h"
#include "plugin/backends/null/event.h"
#include "plugin/backends/null/recipe.h"
#include "plugin/base/status_macros.h"
#include "plugin/base/status_payloads.h"

namespace hpu::null {

absl::Status NullStream::CopyToDevice(const void* source, hal::DeviceAddress destination, uint64_t bytes) {
  HPU_RETURN_IF_ERROR(device_->liveness().Check());
  HPU_RETURN_IF_ERROR(device_->host().Check(source, bytes, "source of CopyToDevice"));
  HPU_RETURN_IF_ERROR(device_->memory().Check(destination, bytes, "destination of CopyToDevice"));
  if (bytes != 0 && Begin(common::Faults::kCopy) && device_->values() != nullptr) {
    device_->values()->Write(destination, source, bytes);
  }
  return absl::OkStatus();
}

absl::Status NullStream::CopyToHost(hal::DeviceAddress source, void* destination, uint64_t bytes) {
  HPU_RETURN_IF_ERROR(device_->liveness().Check());
  HPU_RETURN_IF_ERROR(device_->memory().Check(source, bytes, "source of CopyToHost"));
  HPU_RETURN_IF_ERROR(device_->host().Check(destination, bytes, "destination of CopyToHost"));
  if (bytes == 0 || !Begin(common::Faults::kCopy)) return absl::OkStatus();
  if (device_->values() != nullptr) {
    device_->values()->Read(source, destination, bytes);
  } else {
    std::memset(destination, 0, bytes);
  }
  return absl::OkStatus();
}

absl::Status NullStream::CopyOnDevice(hal::DeviceAddress source, hal::DeviceAddress destination, uint64_t bytes) {
  HPU_RETURN_IF_ERROR(device_->liveness().Check());
  HPU_RETURN_IF_ERROR(device_->memory().Check(source, bytes, "source of CopyOnDevice"));
  HPU_RETURN_IF_ERROR(device_->memory().Check(destination, bytes, "destination of CopyOnDevice"));
  if (bytes != 0 && Begin(common::Faults::kCopy) && device_->values() != nullptr) {
    device_->values()->Copy(source, destination, bytes);
  }
  return absl::OkStatus();
}

absl::Status NullStream::Fill(hal::DeviceAddress destination, uint8_t value, uint64_t bytes) {
  HPU_RETURN_IF_ERROR(device_->liveness().Check());
  HPU_RETURN_IF_ERROR(device_->memory().Check(destination, bytes, "destination of Fill"));
  if (bytes != 0 && Begin(common::Faults::kFill) && device_->values() != nullptr) {
    device_->values()->Fill(destination, value, bytes);
  }
  return absl::OkStatus();
}

absl::Status NullStream::Launch(std::shared_ptr<const hal::Recipe> recipe, const hal::LaunchArguments& arguments) {
  HPU_RETURN_IF_ERROR(device_->liveness().Check());
  HPU_RETURN_IF_ERROR(device_->memory().CheckLaunch(kind_, recipe.get(), arguments));
  if (dynamic_cast<const NullRecipe*>(recipe.get()) == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(
        "launch of ", recipe->name(), ": the recipe belongs to another backend; compile or load it on this device"));
  }
  if (!Begin(common::Faults::kLaunch, &recipe->name()) || device_->values() == nullptr) return absl::OkStatus();
  // Variables that the launch updates in place keep their stored values.
  for (size_t i = 0; i < recipe->results().size(); ++i) {
    const hal::ResultSpec& result = recipe->results()[i];
    if (result.aliased_argument < 0) device_->values()->Erase(arguments.results[i], result.spec.bytes);
  }
  return absl::OkStatus();
}

absl::Status NullStream::Record(hal::Event& event) {
  HPU_RETURN_IF_ERROR(device_->liveness().Check());
  auto* own = dynamic_cast<NullEvent*>(&event);
  if (own == nullptr)
    return absl::InvalidArgumentError(
        "cannot record the event: it belongs to another backend; create it on this device");
  own->Set(CurrentError());
  return absl::OkStatus();
}

absl::Status NullStream::Wait(const hal::Event& event) {
  HPU_RETURN_IF_ERROR(device_->liveness().Check());
  const auto* own = dynamic_cast<const NullEvent*>(&event);
  if (own == nullptr)
    return absl::InvalidArgumentError(
        "cannot wait for the event: it belongs to another backend; create it on this device");
  if (absl::Status status = own->status(); !status.ok()) Fail(std::move(status));
  return absl::OkStatus();
}

absl::Status NullStream::AddCallback(std::function<void(absl::Status)> callback) {
  HPU_RETURN_IF_ERROR(device_->liveness().Check());
  callback(CurrentError());
  return absl::OkStatus();
}

absl::Status NullStream::Synchronize() {
  HPU_RETURN_IF_ERROR(device_->liveness().Check());
  if (!failed_.load(std::memory_order_acquire)) return absl::OkStatus();
  std::lock_guard<std::mutex> lock(mutex_);
  failed_.store(false, std::memory_order_release);
  return std::exchange(error_, absl::OkStatus());
}

bool NullStream::Begin(common::Faults::Kind kind, const std::string* name) {
  if (failed_.load(std::memory_order_acquire)) return false;
  absl::Status status = device_->CountCommand(kind, kind_);
  if (status.ok()) return true;
  if (name != nullptr) status = Reworded(status, absl::StrCat("launch of ", *name, ": ", status.message()));
  Fail(std::move(status));
  return false;
}

void NullStream::Fail(absl::Status status) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (failed_.load(std::memory_order_relaxed)) return;
  error_ = std::move(status);
  failed_.store(true, std::memory_order_release);
}

absl::Status NullStream::CurrentError() const {
  if (!failed_.load(std::memory_order_acquire)) return absl::OkStatus();
  std::lock_guard<std::mutex> lock(mutex_);
  return error_;
}

}  // namespace hpu::null
