#include "plugin/server/service/session.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"

namespace hpu::serve {

absl::StatusOr<std::shared_ptr<Session>> Session::Create(std::unique_ptr<hal::Device> device,
                                                         const SessionLimits& limits, common::Faults faults) {
  HPU_ASSIGN_OR_RETURN(std::unique_ptr<hal::Memory> memory, device->AllocateMemory(device->memory_info().free_bytes));
  return std::shared_ptr<Session>(new Session(std::move(device), std::move(memory), limits, std::move(faults)));
}

Session::Session(std::unique_ptr<hal::Device> device, std::unique_ptr<hal::Memory> memory, const SessionLimits& limits,
                 common::Faults faults)
    : info_(device->info()),
      forms_communicators_(device->CreateCommunicatorId().ok()),
      faults_(std::move(faults)),
      distance_(memory->address() - kBaseAddress),
      device_(std::move(device)),
      memory_(std::move(memory)),
      recipes_(limits.recipes, "recipe", "; raise hpu serve --max-recipes"),
      recipe_bytes_(limits.recipe_bytes),
      in_flight_(limits.in_flight_bytes) {}

absl::Status Session::ShareMemory() {
  HPU_ASSIGN_OR_RETURN(std::unique_ptr<files::SharedMemory> memory, files::SharedMemory::Create(kSharedBytes));
  HPU_ASSIGN_OR_RETURN(shared_mapping_, device_->MapHost(memory->data(), memory->size()));
  shared_memory_ = std::move(memory);
  return absl::OkStatus();
}

absl::StatusOr<char*> Session::SharedRange(uint64_t offset, uint64_t bytes) const {
  const uint64_t size = shared_memory_ == nullptr ? 0 : shared_memory_->size();
  if (offset <= size && bytes <= size - offset && size > 0) return shared_memory_->data() + offset;
  return absl::InvalidArgumentError(
      absl::StrCat("a copy of ", bytes, " bytes at offset ", offset, " exceeds the ", size, " bytes of shared memory"));
}

absl::StatusOr<Session::Share> Session::Enter(const std::shared_ptr<Session>& session, ServerCall* call) {
  std::lock_guard<std::mutex> lock(session->mutex_);
  if (session->closed_) return absl::CancelledError("the session has ended; acquire a module in a new session");
  if (session->calls_.size() >= kMaxCalls) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the session already has ", kMaxCalls,
                     " streams, compilations and communicators, the maximum; destroy unused communicators"));
  }
  session->calls_.insert(call);
  return Share(session, call);
}

void Session::Leave(ServerCall* call) {
  std::lock_guard<std::mutex> lock(mutex_);
  calls_.erase(call);
  left_.notify_all();
}

absl::Status Session::AddCommunicator(uint64_t handle, std::shared_ptr<hal::Communicator> communicator) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (communicators_.emplace(handle, std::move(communicator)).second) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("communicator handle ", handle, " is in use; choose another handle"));
}

absl::StatusOr<std::shared_ptr<hal::Communicator>> Session::FindCommunicator(uint64_t handle) const {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = communicators_.find(handle);
  if (found != communicators_.end()) return found->second;
  return absl::InvalidArgumentError(
      absl::StrCat("unknown communicator handle ", handle, ": it was never created, or is already destroyed"));
}

void Session::RemoveCommunicator(uint64_t handle) {
  std::lock_guard<std::mutex> lock(mutex_);
  communicators_.erase(handle);
}

void Session::End(const absl::Status& status) {
  std::lock_guard<std::mutex> lock(mutex_);
  end_.Update(status);
}

absl::Status Session::end() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return end_;
}

void Session::EndCalls() {
  std::lock_guard<std::mutex> lock(mutex_);
  closed_ = true;
  for (ServerCall* call : calls_) call->Cancel();
  events_.Close();
  recipes_.Close();
}

void Session::Close() {
  EndCalls();
  {
    std::unique_lock<std::mutex> lock(mutex_);
    left_.wait(lock, [this] { return calls_.empty(); });
  }
  events_.Clear();
  recipes_.Clear();
  shared_mapping_.reset();
  memory_.reset();
  device_.reset();
}

void Session::Describe(proto::Module* module) const {
  module->set_memory_bytes(info_.memory_bytes);
  proto::Counters& counters = *module->mutable_counters();
  counters.set_launches(launches_);
  counters.set_bytes_to_device(bytes_to_device_);
  counters.set_bytes_to_host(bytes_to_host_);
  counters.set_recipes(recipes_.size());
  std::lock_guard<std::mutex> lock(mutex_);
  counters.set_calls(calls_.size());
  if (closed_) return;  // the device may have been released
  const hal::DeviceUsage usage = device_->usage();
  module->set_memory_used_bytes(usage.memory_bytes);
  counters.set_busy_ns(usage.busy_ns);
}

}  // namespace hpu::serve
