#include "plugin/backends/remote/communicator.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "plugin/backends/remote/device.h"
#include "plugin/backends/remote/stream.h"
#include "plugin/base/random_id.h"
#include "plugin/base/status_macros.h"

namespace hpu::remote {
namespace {

// Longer than the server's timeout for the other ranks (60 s).
constexpr absl::Duration kJoinTimeout = absl::Seconds(70);

constexpr absl::Duration kPoll = absl::Milliseconds(50);

proto::Collective::Kind KindOf(common::Collective::Kind kind) {
  switch (kind) {
    case common::Collective::Kind::kAllReduce:
      return proto::Collective::KIND_ALL_REDUCE;
    case common::Collective::Kind::kReduceScatter:
      return proto::Collective::KIND_REDUCE_SCATTER;
    case common::Collective::Kind::kAllGather:
      return proto::Collective::KIND_ALL_GATHER;
    case common::Collective::Kind::kBroadcast:
      return proto::Collective::KIND_BROADCAST;
  }
  return proto::Collective::KIND_UNSPECIFIED;
}

}  // namespace

absl::StatusOr<std::string> RemoteCommunicator::NewId(const Session& session) {
  HPU_RETURN_IF_ERROR(session.liveness().Check());
  if (session.acquired().network().empty()) {
    return absl::UnimplementedError(
        absl::StrCat("the modules of the device server at ", session.connection().spec(),
                     " do not support collective operations; use a server with another backend"));
  }
  return absl::StrCat(session.acquired().network(), ":", RandomId());
}

absl::StatusOr<std::unique_ptr<hal::Communicator>> RemoteCommunicator::Create(RemoteDevice* device,
                                                                              const hal::CommunicatorOptions& options) {
  std::unique_ptr<RemoteCommunicator> communicator(new RemoteCommunicator(device, options.rank, options.size));
  HPU_RETURN_IF_ERROR(communicator->Join(options));
  return communicator;
}

RemoteCommunicator::RemoteCommunicator(RemoteDevice* device, int rank, int size)
    : CheckedCommunicator(device->liveness(), device->memory(), rank, size), device_(device) {}

absl::Status RemoteCommunicator::Join(const hal::CommunicatorOptions& options) {
  Session& session = device_->session();
  HPU_RETURN_IF_ERROR(session.liveness().Check());
  handle_ = session.NewHandle();
  const auto answer = [this](absl::Status status) {
    if (answered_.HasBeenNotified()) return;
    answer_ = std::move(status);
    answered_.Notify();
  };
  call_ = std::make_unique<Call>(
      session.connection(), "MakeCommunicator", [answer](absl::string_view) { answer(absl::OkStatus()); },
      [this, answer](const absl::Status& status) {
        if (!status.ok()) return answer(status);
        answer(absl::InternalError(absl::StrCat("the device server ended the communicator before rank ", rank(), " of ",
                                                size(), " had joined; check the server's log")));
      });
  proto::MakeCommunicatorRequest request;
  proto::CommunicatorHeader& header = *request.mutable_header();
  header.set_session(session.acquired().session());
  header.set_communicator(handle_);
  header.set_id(options.id);
  header.set_rank(rank());
  header.set_size(size());
  call_->Write(request);
  const absl::Time end = absl::Now() + kJoinTimeout;
  while (!answered_.WaitForNotificationWithTimeout(kPoll)) {
    if (options.abandoned && options.abandoned()) {
      return absl::CancelledError(
          absl::StrCat("rank ", rank(), " of ", size(), " stopped waiting for the other ranks"));
    }
    if (absl::Now() > end) {
      return absl::UnavailableError(absl::StrCat("the device server did not answer for ",
                                                 absl::FormatDuration(kJoinTimeout), " while rank ", rank(), " of ",
                                                 size(), " joined a communicator; check the server's load and log"));
    }
  }
  return answer_;
}

RemoteCommunicator::~RemoteCommunicator() {
  if (device_->liveness().forked()) {
    static_cast<void>(call_.release());
    return;
  }
  if (answered_.HasBeenNotified() && answer_.ok()) static_cast<void>(device_->Synchronize());
  call_->WritesDone();
}

void RemoteCommunicator::Abort(absl::string_view) {
  proto::MakeCommunicatorRequest request;
  request.set_abort(true);
  call_->Write(request);
}

bool RemoteCommunicator::OwnsStream(const hal::Stream& stream) const {
  const auto* own = dynamic_cast<const RemoteStream*>(&stream);
  return own != nullptr && own->device() == device_;
}

absl::Status RemoteCommunicator::Queue(hal::Stream& stream, const common::Collective& collective) {
  proto::Collective command;
  command.set_kind(KindOf(collective.kind));
  command.set_communicator(handle_);
  command.set_source(device_->ToServer(collective.source));
  command.set_destination(device_->ToServer(collective.destination));
  command.set_count(collective.elements.count);
  command.set_shape(collective.elements.shape);
  command.set_dtype(static_cast<uint32_t>(collective.dtype));
  command.set_op(static_cast<uint32_t>(collective.op));
  command.set_root(collective.root);
  static_cast<RemoteStream&>(stream).SendCollective(command);
  return absl::OkStatus();
}

absl::Status RemoteCommunicator::Queue(hal::Stream& stream, std::vector<common::Transfer> transfers) {
  proto::Collective command;
  command.set_kind(proto::Collective::KIND_TRANSFERS);
  command.set_communicator(handle_);
  for (const common::Transfer& one : transfers) {
    proto::Transfer& transfer = *command.add_transfers();
    transfer.set_sends(one.sends);
    transfer.set_peer(one.peer);
    transfer.set_address(device_->ToServer(one.address));
    transfer.set_count(one.elements.count);
    transfer.set_shape(one.elements.shape);
    transfer.set_dtype(static_cast<uint32_t>(one.dtype));
  }
  static_cast<RemoteStream&>(stream).SendCollective(command);
  return absl::OkStatus();
}

}  // namespace hpu::remote
