#include "plugin/backends/null/device.h"

#include <utility>

#include "plugin/backends/null/event.h"
#include "plugin/backends/null/stream.h"
#include "plugin/base/status_macros.h"

namespace hpu::null {

NullDevice::NullDevice(hal::DeviceInfo info, std::unique_ptr<common::Reservation> reservation, common::Faults faults,
                       std::unique_ptr<Compiler> compiler, std::unique_ptr<HostValues> values)
    : info_(std::move(info)),
      values_(std::move(values)),
      memory_(std::move(reservation), liveness_, /*before_free=*/
              [this](hal::DeviceAddress address, uint64_t bytes) {
                if (values_ != nullptr) values_->Erase(address, bytes);
              }),
      host_(liveness_),
      faults_(std::move(faults)),
      compiler_(std::move(compiler)) {}

absl::StatusOr<std::unique_ptr<hal::Memory>> NullDevice::AllocateMemory(uint64_t bytes) {
  HPU_RETURN_IF_ERROR(liveness_.Check());
  HPU_RETURN_IF_ERROR(faults_.Count(common::Faults::kAllocate));
  return memory_.Allocate(bytes);
}

absl::StatusOr<std::unique_ptr<hal::HostBuffer>> NullDevice::AllocateHost(uint64_t bytes) {
  return host_.Allocate(bytes);
}

absl::StatusOr<std::unique_ptr<hal::HostBuffer>> NullDevice::MapHost(void* data, uint64_t bytes) {
  return host_.Map(data, bytes);
}

absl::StatusOr<std::unique_ptr<hal::Stream>> NullDevice::CreateStream(hal::StreamKind kind) {
  HPU_RETURN_IF_ERROR(liveness_.Check());
  return std::make_unique<NullStream>(this, kind);
}

absl::StatusOr<std::unique_ptr<hal::Event>> NullDevice::CreateEvent() {
  HPU_RETURN_IF_ERROR(liveness_.Check());
  return std::make_unique<NullEvent>(liveness_);
}

absl::StatusOr<std::shared_ptr<const hal::Recipe>> NullDevice::Compile(const hal::Program& program) {
  HPU_RETURN_IF_ERROR(liveness_.Check());
  HPU_RETURN_IF_ERROR(faults_.Count(common::Faults::kCompile));
  return compiler_->Compile(program);
}

absl::StatusOr<std::shared_ptr<const hal::Recipe>> NullDevice::LoadRecipe(absl::string_view name,
                                                                          absl::string_view bytes) {
  HPU_RETURN_IF_ERROR(liveness_.Check());
  return compiler_->Load(name, bytes);
}

absl::StatusOr<std::string> NullDevice::CreateCommunicatorId() {
  return absl::UnimplementedError("the null backend does not support collective operations: use HPU_BACKEND=emulator");
}

absl::StatusOr<std::unique_ptr<hal::Communicator>> NullDevice::CreateCommunicator(const hal::CommunicatorOptions&) {
  return absl::UnimplementedError("the null backend does not support collective operations: use HPU_BACKEND=emulator");
}

}  // namespace hpu::null
