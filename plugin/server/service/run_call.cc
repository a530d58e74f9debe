#include "plugin/server/service/run_call.h"

#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"
#include "plugin/rpc/limits.h"
#include "plugin/server/service/communicator_call.h"

namespace hpu::serve {
namespace {

absl::StatusOr<hal::StreamKind> CallKindOf(proto::StreamKind kind) {
  switch (kind) {
    case proto::STREAM_KIND_COMPUTE:
      return hal::StreamKind::kCompute;
    case proto::STREAM_KIND_HOST_TO_DEVICE:
      return hal::StreamKind::kHostToDevice;
    case proto::STREAM_KIND_DEVICE_TO_HOST:
      return hal::StreamKind::kDeviceToHost;
    default:
      return absl::InvalidArgumentError(
          absl::StrCat("invalid stream kind ", static_cast<int>(kind),
                       ": expected STREAM_KIND_COMPUTE, STREAM_KIND_HOST_TO_DEVICE or STREAM_KIND_DEVICE_TO_HOST"));
  }
}

absl::Status TooLarge(const char* what, uint64_t bytes) {
  return absl::InvalidArgumentError(absl::StrCat(what, " of ", bytes, " bytes exceeds the maximum of ",
                                                 HostPieces::kPieceBytes, " bytes per command"));
}

}  // namespace

RunCall::RunCall(ServerCall* call, std::shared_ptr<Session> session)
    : call_(call), session_(std::move(session)), pieces_(&session_->device(), &session_->in_flight()) {}

RunCall::~RunCall() { stream_.reset(); }

absl::Status RunCall::Open(const proto::OpenStream& open) {
  HPU_ASSIGN_OR_RETURN(const hal::StreamKind kind, CallKindOf(open.kind()));
  HPU_ASSIGN_OR_RETURN(stream_, session_->device().CreateStream(kind));
  return absl::OkStatus();
}

absl::Status RunCall::Execute(const proto::RunRequest& request) {
  if (request.has_open()) {
    return absl::InvalidArgumentError(
        "a Run call can open only one stream, in its first message; use matching releases of hpu-tensorflow");
  }
  for (const proto::Command& command : request.commands()) {
    ++sequence_;
    // Limits the memory for answers to a client that does not read.
    if (!call_->WaitWritable(rpc::kMaxUnsentBytes)) return absl::CancelledError("the client disconnected");
    // Faults count commands, not messages, because the number of commands in a message depends on timing.
    HPU_RETURN_IF_ERROR(session_->faults().Count(common::Faults::kDrop, stream_->kind()));
    HPU_RETURN_IF_ERROR(Execute(command));
  }
  return absl::OkStatus();
}

absl::Status RunCall::Execute(const proto::Command& command) {
  switch (command.kind_case()) {
    case proto::Command::kCopyToDevice:
      return CopyToDevice(command.copy_to_device());
    case proto::Command::kCopyToHost:
      return CopyToHost(command.copy_to_host());
    case proto::Command::kCopyOnDevice: {
      const proto::CopyOnDevice& copy = command.copy_on_device();
      Keep(stream_->CopyOnDevice(session_->ToDevice(copy.source()), session_->ToDevice(copy.destination()),
                                 copy.bytes()));
      return absl::OkStatus();
    }
    case proto::Command::kFill: {
      const proto::Fill& fill = command.fill();
      Keep(stream_->Fill(session_->ToDevice(fill.destination()), static_cast<uint8_t>(fill.value()), fill.bytes()));
      return absl::OkStatus();
    }
    case proto::Command::kLaunch:
      return Launch(command.launch());
    case proto::Command::kRecord:
      return Record(command.record());
    case proto::Command::kWait:
      return Wait(command.wait());
    case proto::Command::kReport:
      Report();
      return absl::OkStatus();
    case proto::Command::kClear:
      Clear();
      return absl::OkStatus();
    case proto::Command::kCopySharedToDevice:
      return CopySharedToDevice(command.copy_shared_to_device());
    case proto::Command::kCopyToShared:
      return CopyToShared(command.copy_to_shared());
    case proto::Command::kCollective:
      return Collective(command.collective());
    case proto::Command::KIND_NOT_SET:
      break;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("command ", sequence_, " has an unknown kind; use matching releases of hpu-tensorflow"));
}

absl::Status RunCall::CopyToDevice(const proto::CopyToDevice& copy) {
  const uint64_t bytes = copy.data().size();
  if (bytes > HostPieces::kPieceBytes) return TooLarge("copy to the device", bytes);
  HPU_ASSIGN_OR_RETURN(const std::shared_ptr<hal::HostBuffer> piece, pieces_.Acquire());
  std::memcpy(piece->data(), copy.data().data(), bytes);
  Keep(stream_->CopyToDevice(piece->data(), session_->ToDevice(copy.destination()), bytes));
  session_->CountToDevice(bytes);
  AfterWork([piece](absl::Status) {});
  return absl::OkStatus();
}

absl::Status RunCall::CopyToHost(const proto::CopyToHost& copy) {
  const uint64_t bytes = copy.bytes();
  if (bytes > HostPieces::kPieceBytes) return TooLarge("copy to the host", bytes);
  HPU_ASSIGN_OR_RETURN(const std::shared_ptr<hal::HostBuffer> piece, pieces_.Acquire());
  const absl::Status queued = stream_->CopyToHost(session_->ToDevice(copy.source()), piece->data(), bytes);
  Keep(queued);
  session_->CountToHost(bytes);
  AfterWork([this, piece, bytes, valid = queued.ok()](const absl::Status& status) {
    proto::RunResponse response;
    response.set_data(piece->data(), valid && status.ok() ? bytes : 0);
    call_->Write(response);
  });
  return absl::OkStatus();
}

absl::Status RunCall::CopySharedToDevice(const proto::CopySharedToDevice& copy) {
  HPU_ASSIGN_OR_RETURN(const char* data, session_->SharedRange(copy.offset(), copy.bytes()));
  Keep(stream_->CopyToDevice(data, session_->ToDevice(copy.destination()), copy.bytes()));
  session_->CountToDevice(copy.bytes());
  Report();
  return absl::OkStatus();
}

absl::Status RunCall::CopyToShared(const proto::CopyToShared& copy) {
  HPU_ASSIGN_OR_RETURN(char* data, session_->SharedRange(copy.offset(), copy.bytes()));
  Keep(stream_->CopyToHost(session_->ToDevice(copy.source()), data, copy.bytes()));
  session_->CountToHost(copy.bytes());
  Report();
  return absl::OkStatus();
}

absl::Status RunCall::Launch(const proto::Launch& launch) {
  const std::shared_ptr<const hal::Recipe> recipe = session_->recipes().Use(launch.recipe());
  if (recipe == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat("launch: unknown recipe handle ", launch.recipe(),
                                                   ": it was never created, or is already released"));
  }
  arguments_.clear();
  for (const uint64_t address : launch.arguments()) arguments_.push_back(session_->ToDevice(address));
  results_.clear();
  for (const uint64_t address : launch.results()) results_.push_back(session_->ToDevice(address));
  session_->CountLaunch();
  Keep(stream_->Launch(recipe, {arguments_, results_, session_->ToDevice(launch.workspace())}));
  return absl::OkStatus();
}

absl::Status RunCall::Collective(const proto::Collective& collective) {
  const absl::StatusOr<std::shared_ptr<hal::Communicator>> communicator =
      session_->FindCommunicator(collective.communicator());
  Keep(communicator.ok() ? QueueCollective(*session_, **communicator, *stream_, collective) : communicator.status());
  return absl::OkStatus();
}

absl::Status RunCall::Record(const proto::Record& record) {
  absl::StatusOr<std::unique_ptr<hal::Event>> event = session_->device().CreateEvent();
  if (event.ok()) {
    Keep(stream_->Record(**event));
    HPU_RETURN_IF_ERROR(session_->events().Put(record.mark(), *std::move(event)));
  } else {
    Keep(event.status());
  }
  Report();
  return absl::OkStatus();
}

absl::Status RunCall::Wait(const proto::Wait& wait) {
  const std::shared_ptr<hal::Event> event = session_->events().Await(wait.mark());
  if (event == nullptr) return absl::CancelledError("the session has ended; acquire a module in a new session");
  Keep(stream_->Wait(*event));
  return absl::OkStatus();
}

void RunCall::Clear() {
  const absl::Status status = stream_->Synchronize();
  refusal_ = absl::OkStatus();
  // The error has already been reported; only a lost device remains in error.
  SendProgress(sequence_, absl::IsAborted(status) ? status : absl::OkStatus(), /*cleared=*/true);
}

void RunCall::Report() {
  AfterWork([this, sequence = sequence_, refusal = refusal_](const absl::Status& status) {
    SendProgress(sequence, status.ok() ? refusal : status, /*cleared=*/false);
  });
}

void RunCall::AfterWork(std::function<void(absl::Status)> callback) {
  const absl::Status status = stream_->AddCallback(callback);
  if (!status.ok()) callback(status);
}

void RunCall::SendProgress(uint64_t sequence, const absl::Status& status, bool cleared) {
  proto::RunResponse response;
  proto::Progress& progress = *response.mutable_progress();
  progress.set_sequence(sequence);
  progress.mutable_status()->set_code(static_cast<int32_t>(status.code()));
  progress.mutable_status()->set_message(std::string(status.message()));
  progress.set_cleared(cleared);
  if (status.ok() && !cleared) {
    call_->WriteJoinable(response);  // progress of a later command implies progress of this command
  } else {
    call_->Write(response);
  }
}

}  // namespace hpu::serve
