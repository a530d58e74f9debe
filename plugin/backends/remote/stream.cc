#include "plugin/backends/remote/stream.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "plugin/backends/common/uncached_copy.h"
#include "plugin/backends/remote/device.h"
#include "plugin/backends/remote/recipe.h"
#include "plugin/base/interrupts/sigint.h"
#include "plugin/base/status_macros.h"
#include "plugin/rpc/limits.h"

namespace hpu::remote {
namespace {

// Size limit of the data in one message. Larger copies are split into several commands.
constexpr uint64_t kMessageBytes = uint64_t{1} << 20;

proto::StreamKind ProtoKind(hal::StreamKind kind) {
  switch (kind) {
    case hal::StreamKind::kCompute:
      return proto::STREAM_KIND_COMPUTE;
    case hal::StreamKind::kHostToDevice:
      return proto::STREAM_KIND_HOST_TO_DEVICE;
    case hal::StreamKind::kDeviceToHost:
      return proto::STREAM_KIND_DEVICE_TO_HOST;
  }
  return proto::STREAM_KIND_UNSPECIFIED;
}

}  // namespace

RemoteStream::RemoteStream(RemoteDevice* device, hal::StreamKind kind)
    : device_(device), kind_(kind), state_(std::make_unique<State>(&device->session())) {
  StreamProgress* progress = &state_->progress;
  state_->call = std::make_unique<Call>(
      device->session().connection(), "Run", [progress](absl::string_view message) { progress->Receive(message); },
      [progress](const absl::Status& status) { progress->End(status); });
  proto::RunRequest first;
  first.mutable_open()->set_session(device->session().acquired().session());
  first.mutable_open()->set_kind(ProtoKind(kind));
  state_->call->Write(first);
  state_->command = state_->request.add_commands();
  device_->AddStream(this);
}

RemoteStream::~RemoteStream() {
  if (device_->liveness().forked()) {
    static_cast<void>(state_.release());
    return;
  }
  device_->RemoveStream(this);
  if (!device_->liveness().Check().ok()) return;
  static_cast<void>(End().Wait());
  state_->call->WritesDone();
  static_cast<void>(state_->call->Wait());
}

template <typename Write, typename Prepare>
void RemoteStream::Send(const Write& write, const Prepare& prepare) {
  state_->command->Clear();
  write(*state_->command);
  state_->message.clear();
  state_->request.AppendToString(&state_->message);
  prepare(state_->sent + 1);
  ++state_->sent;
  state_->call->WriteJoinable(state_->message);
}

template <typename Write>
void RemoteStream::SendReported(const Write& write) {
  Send(write);
  state_->reported = state_->sent;
}

template <typename Write>
absl::Status RemoteStream::SendReported(const Write& write, std::function<void(absl::Status)> done) {
  if (!state_->progress.ExpectReport(state_->sent + 1, std::move(done))) return device_->liveness().Check();
  SendReported(write);
  return absl::OkStatus();
}

void RemoteStream::WaitForRoom() { state_->call->WaitWritable(rpc::kMaxUnsentBytes); }

absl::Status RemoteStream::CopyToDevice(const void* source, hal::DeviceAddress destination, uint64_t bytes) {
  HPU_RETURN_IF_ERROR(device_->liveness().Check());
  HPU_RETURN_IF_ERROR(device_->host().Check(source, bytes, "source of CopyToDevice"));
  HPU_RETURN_IF_ERROR(device_->memory().Check(destination, bytes, "destination of CopyToDevice"));
  SharedBounceBuffer* const bounce = device_->BounceBufferFor(bytes);
  const uint64_t max = bounce == nullptr ? kMessageBytes : SharedBounceBuffer::PieceBytes(bytes);
  for (uint64_t at = 0; at < bytes; at += max) {
    const char* const part = static_cast<const char*>(source) + at;
    const uint64_t part_bytes = std::min(max, bytes - at);
    if (bounce == nullptr) {
      SendToDevice(part, destination + at, part_bytes);
    } else {
      HPU_RETURN_IF_ERROR(SendSharedToDevice(bounce, part, destination + at, part_bytes));
    }
  }
  return absl::OkStatus();
}

void RemoteStream::SendToDevice(const char* source, hal::DeviceAddress destination, uint64_t bytes) {
  WaitForRoom();
  std::lock_guard<std::mutex> lock(state_->mutex);
  Send([&](proto::Command& command) {
    command.mutable_copy_to_device()->set_destination(device_->ToServer(destination));
    command.mutable_copy_to_device()->set_data(source, bytes);
  });
}

absl::Status RemoteStream::SendSharedToDevice(SharedBounceBuffer* bounce, const char* source,
                                              hal::DeviceAddress destination, uint64_t bytes) {
  std::shared_ptr<char> piece = bounce->Allocate(bytes);
  std::memcpy(piece.get(), source, bytes);
  const uint64_t offset = bounce->OffsetOf(piece);
  std::lock_guard<std::mutex> lock(state_->mutex);
  return SendReported(
      [&](proto::Command& command) {
        command.mutable_copy_shared_to_device()->set_offset(offset);
        command.mutable_copy_shared_to_device()->set_destination(device_->ToServer(destination));
        command.mutable_copy_shared_to_device()->set_bytes(bytes);
      },
      [piece = std::move(piece)](const absl::Status&) {});
}

absl::Status RemoteStream::CopyToHost(hal::DeviceAddress source, void* destination, uint64_t bytes) {
  HPU_RETURN_IF_ERROR(device_->liveness().Check());
  HPU_RETURN_IF_ERROR(device_->memory().Check(source, bytes, "source of CopyToHost"));
  HPU_RETURN_IF_ERROR(device_->host().Check(destination, bytes, "destination of CopyToHost"));
  SharedBounceBuffer* const bounce = device_->BounceBufferFor(bytes);
  const uint64_t max = bounce == nullptr ? kMessageBytes : SharedBounceBuffer::PieceBytes(bytes);
  for (uint64_t at = 0; at < bytes; at += max) {
    char* const part = static_cast<char*>(destination) + at;
    const uint64_t part_bytes = std::min(max, bytes - at);
    if (bounce == nullptr) {
      SendToHost(source + at, part, part_bytes);
    } else {
      HPU_RETURN_IF_ERROR(SendToHostShared(bounce, source + at, part, part_bytes));
    }
  }
  return absl::OkStatus();
}

void RemoteStream::SendToHost(hal::DeviceAddress source, char* destination, uint64_t bytes) {
  WaitForRoom();
  std::lock_guard<std::mutex> lock(state_->mutex);
  Send(
      [&](proto::Command& command) {
        command.mutable_copy_to_host()->set_source(device_->ToServer(source));
        command.mutable_copy_to_host()->set_bytes(static_cast<uint32_t>(bytes));
      },
      [&](uint64_t) { state_->progress.ExpectData(destination, bytes); });
}

absl::Status RemoteStream::SendToHostShared(SharedBounceBuffer* bounce, hal::DeviceAddress source, char* destination,
                                            uint64_t bytes) {
  std::shared_ptr<char> piece = bounce->Allocate(bytes);
  const uint64_t offset = bounce->OffsetOf(piece);
  std::lock_guard<std::mutex> lock(state_->mutex);
  return SendReported(
      [&](proto::Command& command) {
        command.mutable_copy_to_shared()->set_source(device_->ToServer(source));
        command.mutable_copy_to_shared()->set_offset(offset);
        command.mutable_copy_to_shared()->set_bytes(bytes);
      },
      [piece = std::move(piece), destination, bytes](const absl::Status& status) {
        if (status.ok()) common::CopyUncached(destination, piece.get(), bytes);
      });
}

absl::Status RemoteStream::CopyOnDevice(hal::DeviceAddress source, hal::DeviceAddress destination, uint64_t bytes) {
  HPU_RETURN_IF_ERROR(device_->liveness().Check());
  HPU_RETURN_IF_ERROR(device_->memory().Check(source, bytes, "source of CopyOnDevice"));
  HPU_RETURN_IF_ERROR(device_->memory().Check(destination, bytes, "destination of CopyOnDevice"));
  if (bytes == 0) return absl::OkStatus();
  WaitForRoom();
  std::lock_guard<std::mutex> lock(state_->mutex);
  Send([&](proto::Command& command) {
    command.mutable_copy_on_device()->set_source(device_->ToServer(source));
    command.mutable_copy_on_device()->set_destination(device_->ToServer(destination));
    command.mutable_copy_on_device()->set_bytes(bytes);
  });
  return absl::OkStatus();
}

absl::Status RemoteStream::Fill(hal::DeviceAddress destination, uint8_t value, uint64_t bytes) {
  HPU_RETURN_IF_ERROR(device_->liveness().Check());
  HPU_RETURN_IF_ERROR(device_->memory().Check(destination, bytes, "destination of Fill"));
  if (bytes == 0) return absl::OkStatus();
  WaitForRoom();
  std::lock_guard<std::mutex> lock(state_->mutex);
  Send([&](proto::Command& command) {
    command.mutable_fill()->set_destination(device_->ToServer(destination));
    command.mutable_fill()->set_value(value);
    command.mutable_fill()->set_bytes(bytes);
  });
  return absl::OkStatus();
}

void RemoteStream::SendCollective(const proto::Collective& collective) {
  WaitForRoom();
  std::lock_guard<std::mutex> lock(state_->mutex);
  Send([&](proto::Command& command) { *command.mutable_collective() = collective; });
}

absl::Status RemoteStream::Launch(std::shared_ptr<const hal::Recipe> recipe, const hal::LaunchArguments& arguments) {
  HPU_RETURN_IF_ERROR(device_->liveness().Check());
  HPU_RETURN_IF_ERROR(device_->memory().CheckLaunch(kind_, recipe.get(), arguments));
  const auto* own = dynamic_cast<const RemoteRecipe*>(recipe.get());
  if (own == nullptr || !device_->Made(*own)) {
    return absl::InvalidArgumentError(
        absl::StrCat("launch of ", recipe->name(),
                     ": the recipe belongs to another backend or device; compile or load it on this device"));
  }
  WaitForRoom();
  std::lock_guard<std::mutex> lock(state_->mutex);
  own->CountUse();
  Send([&](proto::Command& command) {
    proto::Launch& launch = *command.mutable_launch();
    launch.set_recipe(own->handle());
    for (const hal::DeviceAddress address : arguments.arguments) launch.add_arguments(device_->ToServer(address));
    for (const hal::DeviceAddress address : arguments.results) launch.add_results(device_->ToServer(address));
    launch.set_workspace(device_->ToServer(arguments.workspace));
  });
  return absl::OkStatus();
}

absl::Status RemoteStream::Record(hal::Event& event) {
  HPU_RETURN_IF_ERROR(device_->liveness().Check());
  auto* own = dynamic_cast<RemoteEvent*>(&event);
  if (own == nullptr || own->session() != &device_->session()) {
    return absl::InvalidArgumentError(
        "cannot record the event: it belongs to another backend or device; create it on this device");
  }
  std::unique_lock<std::mutex> lock(state_->mutex);
  RemoteEvent::Moment moment;
  moment.point = state_->progress.PointAt(state_->sent);
  if (!moment.point.Reached() || !moment.point.Error().ok()) {
    moment.handle = std::make_shared<EventHandle>(&device_->session());
    SendReported([&](proto::Command& command) { command.mutable_record()->set_mark(moment.handle->handle()); });
    moment.point.sequence = state_->sent;
  }
  lock.unlock();
  own->Set(std::move(moment));
  return absl::OkStatus();
}

absl::Status RemoteStream::Wait(const hal::Event& event) {
  HPU_RETURN_IF_ERROR(device_->liveness().Check());
  const auto* own = dynamic_cast<const RemoteEvent*>(&event);
  if (own == nullptr || own->session() != &device_->session()) {
    return absl::InvalidArgumentError(
        "cannot wait for the event: it belongs to another backend or device; create it on this device");
  }
  const RemoteEvent::Moment moment = own->moment();
  if (moment.handle == nullptr || (moment.point.Reached() && moment.point.Error().ok())) return absl::OkStatus();
  std::lock_guard<std::mutex> lock(state_->mutex);
  moment.handle->CountUse();
  Send([&](proto::Command& command) { command.mutable_wait()->set_mark(moment.handle->handle()); });
  return absl::OkStatus();
}

absl::Status RemoteStream::AddCallback(std::function<void(absl::Status)> callback) {
  HPU_RETURN_IF_ERROR(device_->liveness().Check());
  interrupts::WatchSigint();  // the program may wait for the callback
  std::lock_guard<std::mutex> lock(state_->mutex);
  return SendReported([](proto::Command& command) { command.mutable_report(); }, std::move(callback));
}

bool RemoteStream::IsWaitedFor() const {
  std::lock_guard<std::mutex> lock(state_->mutex);
  return !state_->progress.Reached(state_->reported);
}

common::Point RemoteStream::End() {
  std::lock_guard<std::mutex> lock(state_->mutex);
  if (state_->reported != state_->sent) SendReported([](proto::Command& command) { command.mutable_report(); });
  return state_->progress.PointAt(state_->sent);
}

absl::Status RemoteStream::Synchronize() {
  HPU_RETURN_IF_ERROR(device_->liveness().Check());
  interrupts::WatchSigint();
  const common::Point end = End();
  static_cast<void>(end.Wait());
  const absl::Status error = state_->progress.ErrorUpTo(end.sequence);
  if (error.ok()) return device_->liveness().Check();
  if (device_->liveness().Check().ok()) HPU_RETURN_IF_ERROR(Clear());
  return error;
}

absl::Status RemoteStream::Clear() {
  common::Point cleared;
  {
    std::lock_guard<std::mutex> lock(state_->mutex);
    SendReported([](proto::Command& command) { command.mutable_clear(); });
    cleared = state_->progress.PointAt(state_->sent);
  }
  static_cast<void>(cleared.Wait());
  return device_->liveness().Check();
}

}  // namespace hpu::remote
