#include "plugin/backends/remote/communicator.h"

#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "plugin/backends/remote/device.h"
#include "plugin/backends/remote/stream.h"
#include "plugin/hal/status_macros.h"

namespace hpu::remote {
namespace {

using hal::DataType;
using hal::DeviceAddress;
using hal::ReduceOp;

// The server itself waits for the other ranks for a minute.
constexpr absl::Duration kAnswerTimeout = absl::Seconds(70);

proto::Collective CommandOf(proto::Collective::Kind kind, ReduceOp op = ReduceOp::kSum, int root = 0) {
  proto::Collective command;
  command.set_kind(kind);
  command.set_op(static_cast<uint32_t>(op));
  command.set_root(root);
  return command;
}

}  // namespace

absl::StatusOr<std::string> RemoteCommunicator::NewId(const Session& session) {
  HPU_RETURN_IF_ERROR(session.liveness().Check());
  if (session.acquired().fabric().empty()) {
    return absl::UnimplementedError("the modules of this device server have no collective operations of their own");
  }
  std::random_device random;
  return absl::StrCat(session.acquired().fabric(), ":", absl::Hex(random()), absl::Hex(random()), absl::Hex(random()));
}

absl::StatusOr<std::unique_ptr<hal::Communicator>> RemoteCommunicator::Create(RemoteDevice* device,
                                                                              const hal::CommunicatorOptions& options) {
  std::unique_ptr<RemoteCommunicator> communicator(new RemoteCommunicator(device, options.rank, options.size));
  HPU_RETURN_IF_ERROR(communicator->Join(options.id));
  return communicator;
}

absl::Status RemoteCommunicator::Join(const std::string& id) {
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
      [answer](const absl::Status& status) {
        answer(status.ok() ? absl::InternalError("the device server ended a communicator") : status);
      });
  proto::MakeCommunicatorRequest request;
  proto::CommunicatorHeader& header = *request.mutable_header();
  header.set_session(session.acquired().session());
  header.set_communicator(handle_);
  header.set_id(id);
  header.set_rank(rank_);
  header.set_size(size_);
  call_->Write(request);
  if (!answered_.WaitForNotificationWithTimeout(kAnswerTimeout)) {
    return absl::UnavailableError("the device server does not answer about a communicator");
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

void RemoteCommunicator::Abort() {
  proto::MakeCommunicatorRequest request;
  request.set_abort(true);
  call_->Write(request);
}

absl::StatusOr<RemoteStream*> RemoteCommunicator::OwnStream(hal::Stream& stream) const {
  HPU_RETURN_IF_ERROR(device_->liveness().Check());
  auto* own = dynamic_cast<RemoteStream*>(&stream);
  if (own != nullptr && own->device() == device_) return own;
  return absl::InvalidArgumentError("a collective operation on a stream of another device");
}

absl::Status RemoteCommunicator::CheckRank(int rank) const {
  if (rank >= 0 && rank < size_) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("there is no rank ", rank, " in a communicator of ", size_));
}

absl::StatusOr<uint64_t> RemoteCommunicator::Address(DeviceAddress address, uint64_t parts, uint64_t count,
                                                     DataType dtype, const char* what) const {
  uint64_t bytes = hal::SizeOf(dtype);
  if (bytes == 0 || __builtin_mul_overflow(bytes, parts, &bytes) || __builtin_mul_overflow(bytes, count, &bytes)) {
    return absl::InvalidArgumentError(absl::StrCat(what, ": ", count, " elements of ", hal::NameOf(dtype)));
  }
  HPU_RETURN_IF_ERROR(device_->memory().Check(address, bytes, what));
  return device_->ToServer(address);
}

absl::Status RemoteCommunicator::Send(hal::Stream& stream, DeviceAddress source, uint64_t source_parts,
                                      DeviceAddress destination, uint64_t destination_parts, uint64_t count,
                                      DataType dtype, proto::Collective command) {
  HPU_ASSIGN_OR_RETURN(RemoteStream * own, OwnStream(stream));
  if (in_group_) return absl::InvalidArgumentError("groups are for Send and Receive");
  HPU_ASSIGN_OR_RETURN(const uint64_t from, Address(source, source_parts, count, dtype, "source of a collective"));
  HPU_ASSIGN_OR_RETURN(const uint64_t to,
                       Address(destination, destination_parts, count, dtype, "destination of a collective"));
  command.set_communicator(handle_);
  command.set_source(from);
  command.set_destination(to);
  command.set_count(count);
  command.set_dtype(static_cast<uint32_t>(dtype));
  own->SendCollective(command);
  return absl::OkStatus();
}

absl::Status RemoteCommunicator::AllReduce(hal::Stream& stream, DeviceAddress source, DeviceAddress destination,
                                           uint64_t count, DataType dtype, ReduceOp op) {
  return Send(stream, source, 1, destination, 1, count, dtype, CommandOf(proto::Collective::KIND_ALL_REDUCE, op));
}

absl::Status RemoteCommunicator::Broadcast(hal::Stream& stream, DeviceAddress source, DeviceAddress destination,
                                           uint64_t count, DataType dtype, int root) {
  HPU_RETURN_IF_ERROR(CheckRank(root));
  const bool reads = rank_ == root;
  return Send(stream, reads ? source : 0, reads ? 1 : 0, destination, 1, count, dtype,
              CommandOf(proto::Collective::KIND_BROADCAST, ReduceOp::kSum, root));
}

absl::Status RemoteCommunicator::AllGather(hal::Stream& stream, DeviceAddress source, DeviceAddress destination,
                                           uint64_t count, DataType dtype) {
  return Send(stream, source, 1, destination, size_, count, dtype, CommandOf(proto::Collective::KIND_ALL_GATHER));
}

absl::Status RemoteCommunicator::ReduceScatter(hal::Stream& stream, DeviceAddress source, DeviceAddress destination,
                                               uint64_t count, DataType dtype, ReduceOp op) {
  return Send(stream, source, size_, destination, 1, count, dtype,
              CommandOf(proto::Collective::KIND_REDUCE_SCATTER, op));
}

absl::Status RemoteCommunicator::Send(hal::Stream& stream, DeviceAddress source, uint64_t count, DataType dtype,
                                      int peer) {
  return AddTransfer(stream, true, source, count, dtype, peer);
}

absl::Status RemoteCommunicator::Receive(hal::Stream& stream, DeviceAddress destination, uint64_t count, DataType dtype,
                                         int peer) {
  return AddTransfer(stream, false, destination, count, dtype, peer);
}

absl::Status RemoteCommunicator::AddTransfer(hal::Stream& stream, bool sends, DeviceAddress address, uint64_t count,
                                             DataType dtype, int peer) {
  HPU_ASSIGN_OR_RETURN(RemoteStream * own, OwnStream(stream));
  HPU_RETURN_IF_ERROR(CheckRank(peer));
  if (peer == rank_) return absl::InvalidArgumentError(absl::StrCat("a transfer from rank ", rank_, " to itself"));
  if (in_group_ && group_stream_ != nullptr && group_stream_ != own) {
    return absl::InvalidArgumentError("transfers of one group on several streams");
  }
  HPU_ASSIGN_OR_RETURN(const uint64_t where, Address(address, 1, count, dtype, "memory of a transfer"));
  proto::Transfer& transfer = *group_.add_transfers();
  transfer.set_sends(sends);
  transfer.set_peer(peer);
  transfer.set_address(where);
  transfer.set_count(count);
  transfer.set_dtype(static_cast<uint32_t>(dtype));
  group_stream_ = own;
  if (in_group_) return absl::OkStatus();
  in_group_ = true;
  return EndGroup();
}

absl::Status RemoteCommunicator::BeginGroup() {
  if (in_group_) return absl::FailedPreconditionError("groups do not nest");
  in_group_ = true;
  return absl::OkStatus();
}

absl::Status RemoteCommunicator::EndGroup() {
  if (!in_group_) return absl::FailedPreconditionError("no group has begun");
  in_group_ = false;
  RemoteStream* const stream = std::exchange(group_stream_, nullptr);
  if (stream == nullptr) return absl::OkStatus();
  proto::Collective command = std::exchange(group_, {});
  command.set_kind(proto::Collective::KIND_TRANSFERS);
  command.set_communicator(handle_);
  stream->SendCollective(command);
  return absl::OkStatus();
}

}  // namespace hpu::remote
