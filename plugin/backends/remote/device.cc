#include "plugin/backends/remote/device.h"

#include <algorithm>
#include <utility>

#include "plugin/backends/remote/communicator.h"
#include "plugin/backends/remote/event.h"
#include "plugin/backends/remote/stream.h"
#include "plugin/base/status_macros.h"

namespace hpu::remote {

RemoteDevice::State::State(RemoteDevice* device, std::unique_ptr<Session> session_taken,
                           std::unique_ptr<common::Reservation> reservation, common::Faults faults_taken)
    : session(std::move(session_taken)),
      bounce(SharedBounceBuffer::Open(*session)),
      memory(std::move(reservation), session->liveness(),
             [device](hal::DeviceAddress, uint64_t) { device->WaitForStreams(); }),
      host(session->liveness()),
      faults(std::move(faults_taken)) {}

RemoteDevice::RemoteDevice(hal::DeviceInfo info, std::unique_ptr<Session> session,
                           std::unique_ptr<common::Reservation> reservation, common::Faults faults)
    : info_(std::move(info)), distance_(session->acquired().base_address() - reservation->base()) {
  state_ = std::make_unique<State>(this, std::move(session), std::move(reservation), std::move(faults));
}

RemoteDevice::~RemoteDevice() {
  if (liveness().forked()) static_cast<void>(state_.release());
}

absl::StatusOr<std::unique_ptr<hal::Memory>> RemoteDevice::AllocateMemory(uint64_t bytes) {
  HPU_RETURN_IF_ERROR(liveness().Check());
  HPU_RETURN_IF_ERROR(state_->faults.Count(common::Faults::kAllocate));
  return state_->memory.Allocate(bytes);
}

absl::StatusOr<std::unique_ptr<hal::HostBuffer>> RemoteDevice::AllocateHost(uint64_t bytes) {
  return state_->host.Allocate(bytes);
}

absl::StatusOr<std::unique_ptr<hal::HostBuffer>> RemoteDevice::MapHost(void* data, uint64_t bytes) {
  return state_->host.Map(data, bytes);
}

absl::StatusOr<std::unique_ptr<hal::Stream>> RemoteDevice::CreateStream(hal::StreamKind kind) {
  HPU_RETURN_IF_ERROR(liveness().Check());
  return std::make_unique<RemoteStream>(this, kind);
}

absl::StatusOr<std::unique_ptr<hal::Event>> RemoteDevice::CreateEvent() {
  HPU_RETURN_IF_ERROR(liveness().Check());
  return std::make_unique<RemoteEvent>(state_->session.get());
}

absl::StatusOr<std::shared_ptr<const hal::Recipe>> RemoteDevice::Compile(const hal::Program& program) {
  return RemoteRecipe::Make(state_->session, proto::MakeRecipeHeader::SOURCE_PROGRAM, program.name, program.hlo);
}

absl::StatusOr<std::shared_ptr<const hal::Recipe>> RemoteDevice::LoadRecipe(absl::string_view name,
                                                                            absl::string_view bytes) {
  return RemoteRecipe::Make(state_->session, proto::MakeRecipeHeader::SOURCE_RECIPE, name, bytes);
}

absl::StatusOr<std::string> RemoteDevice::CreateCommunicatorId() { return RemoteCommunicator::NewId(session()); }

absl::StatusOr<std::unique_ptr<hal::Communicator>> RemoteDevice::CreateCommunicator(
    const hal::CommunicatorOptions& options) {
  return RemoteCommunicator::Create(this, options);
}

absl::Status RemoteDevice::Synchronize() {
  HPU_RETURN_IF_ERROR(liveness().Check());
  WaitForStreams();
  return liveness().Check();
}

void RemoteDevice::Interrupt() {
  {
    std::lock_guard<std::mutex> lock(state_->streams_mutex);
    const auto waited_for = [](const RemoteStream* stream) { return stream->IsWaitedFor(); };
    if (std::none_of(state_->streams.begin(), state_->streams.end(), waited_for)) return;
  }
  session().Interrupt();
}

void RemoteDevice::AddStream(RemoteStream* stream) {
  std::lock_guard<std::mutex> lock(state_->streams_mutex);
  state_->streams.push_back(stream);
}

void RemoteDevice::RemoveStream(RemoteStream* stream) {
  std::lock_guard<std::mutex> lock(state_->streams_mutex);
  auto& streams = state_->streams;
  streams.erase(std::remove(streams.begin(), streams.end(), stream), streams.end());
}

void RemoteDevice::WaitForStreams() {
  std::vector<common::Point> ends;
  {
    std::lock_guard<std::mutex> lock(state_->streams_mutex);
    for (RemoteStream* stream : state_->streams) ends.push_back(stream->End());
  }
  for (const common::Point& end : ends) static_cast<void>(end.Wait());
}

}  // namespace hpu::remote
