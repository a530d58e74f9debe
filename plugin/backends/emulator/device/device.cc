#include "plugin/backends/emulator/device/device.h"

#include <algorithm>
#include <utility>

#include "plugin/backends/common/point_event.h"
#include "plugin/backends/common/signal_mask.h"
#include "plugin/backends/emulator/codegen/recipe.h"
#include "plugin/backends/emulator/device/stream.h"
#include "plugin/base/status_macros.h"

namespace hpu::emulator {

EmulatorDevice::State::State(EmulatorDevice* device, std::unique_ptr<common::Reservation> reservation,
                             common::Faults faults)
    : memory(std::move(reservation), device->liveness_,
             [device](hal::DeviceAddress, uint64_t) { device->WaitForStreams(); }),
      host(device->liveness_),
      faults(std::move(faults)) {}

EmulatorDevice::EmulatorDevice(hal::DeviceInfo info, std::optional<common::ModuleLock> lock,
                               std::unique_ptr<common::Reservation> reservation, common::Faults faults)
    : info_(std::move(info)), lock_(std::move(lock)), reservation_(reservation.get()) {
  const common::ScopedSignalMask mask;  // inherited by the threads of the compute pool
  state_ = std::make_unique<State>(this, std::move(reservation), std::move(faults));
}

EmulatorDevice::~EmulatorDevice() {
  if (liveness_.forked()) static_cast<void>(state_.release());
}

std::chrono::nanoseconds EmulatorDevice::longest_launch() {
  std::chrono::nanoseconds longest{0};
  std::lock_guard<std::mutex> lock(state_->streams_mutex);
  for (const EmulatorStream* stream : state_->streams) longest = std::max(longest, stream->launch_time());
  return longest;
}

absl::StatusOr<std::unique_ptr<hal::Memory>> EmulatorDevice::AllocateMemory(uint64_t bytes) {
  HPU_RETURN_IF_ERROR(liveness_.Check());
  HPU_RETURN_IF_ERROR(state_->faults.Count(common::Faults::kAllocate));
  return state_->memory.Allocate(bytes);
}

absl::StatusOr<std::unique_ptr<hal::HostBuffer>> EmulatorDevice::AllocateHost(uint64_t bytes) {
  return state_->host.Allocate(bytes);
}

absl::StatusOr<std::unique_ptr<hal::HostBuffer>> EmulatorDevice::MapHost(void* data, uint64_t bytes) {
  return state_->host.Map(data, bytes);
}

absl::StatusOr<std::unique_ptr<hal::Stream>> EmulatorDevice::CreateStream(hal::StreamKind kind) {
  HPU_RETURN_IF_ERROR(liveness_.Check());
  return std::make_unique<EmulatorStream>(this, kind);
}

absl::StatusOr<std::unique_ptr<hal::Event>> EmulatorDevice::CreateEvent() {
  HPU_RETURN_IF_ERROR(liveness_.Check());
  return std::make_unique<common::PointEvent>(liveness_);
}

absl::StatusOr<std::shared_ptr<const hal::Recipe>> EmulatorDevice::Compile(const hal::Program& program) {
  HPU_RETURN_IF_ERROR(liveness_.Check());
  HPU_RETURN_IF_ERROR(state_->faults.Count(common::Faults::kCompile));
  return CompileRecipe(program);
}

absl::StatusOr<std::shared_ptr<const hal::Recipe>> EmulatorDevice::LoadRecipe(absl::string_view name,
                                                                              absl::string_view bytes) {
  HPU_RETURN_IF_ERROR(liveness_.Check());
  return emulator::LoadRecipe(name, bytes);
}

absl::StatusOr<std::string> EmulatorDevice::CreateCommunicatorId() {
  HPU_RETURN_IF_ERROR(liveness_.Check());
  return peers::PeerCommunicator::NewId();
}

absl::StatusOr<std::unique_ptr<hal::Communicator>> EmulatorDevice::CreateCommunicator(
    const hal::CommunicatorOptions& options) {
  HPU_RETURN_IF_ERROR(liveness_.Check());
  return peers::PeerCommunicator::Create(*this, liveness_, state_->memory, options);
}

bool EmulatorDevice::OwnsStream(const hal::Stream& stream) const {
  const auto* own = dynamic_cast<const EmulatorStream*>(&stream);
  return own != nullptr && own->device() == this;
}

void EmulatorDevice::QueueExchange(hal::Stream& stream, std::vector<peers::Operand> operands,
                                   peers::Exchange exchange) {
  std::vector<char*> data;
  for (const peers::Operand& operand : operands) data.push_back(ToData(operand.address));
  static_cast<EmulatorStream&>(stream).QueueExchange(
      [data = std::move(data), exchange = std::move(exchange)](const absl::Status& before) {
        return exchange(before, data);
      });
}

absl::Status EmulatorDevice::Synchronize() {
  HPU_RETURN_IF_ERROR(liveness_.Check());
  WaitForStreams();
  return liveness_.Check();
}

void EmulatorDevice::AddStream(EmulatorStream* stream) {
  std::lock_guard<std::mutex> lock(state_->streams_mutex);
  state_->streams.push_back(stream);
}

void EmulatorDevice::RemoveStream(EmulatorStream* stream) {
  std::lock_guard<std::mutex> lock(state_->streams_mutex);
  auto& streams = state_->streams;
  streams.erase(std::remove(streams.begin(), streams.end(), stream), streams.end());
}

void EmulatorDevice::WaitForStreams() {
  std::vector<common::Point> ends;
  {
    std::lock_guard<std::mutex> lock(state_->streams_mutex);
    for (EmulatorStream* stream : state_->streams) {
      common::Point end = stream->Now();
      if (!end.Reached()) ends.push_back(std::move(end));
    }
  }
  for (const common::Point& end : ends) static_cast<void>(end.Wait());
}

}  // namespace hpu::emulator
