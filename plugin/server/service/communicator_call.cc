#include "plugin/server/service/communicator_call.h"

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"

namespace hpu::serve {
namespace {

constexpr size_t kMaxIdBytes = 256;
constexpr int kMaxRanks = 1024;

absl::StatusOr<hal::DataType> TypeOf(uint32_t dtype) {
  const auto type = static_cast<hal::DataType>(dtype);
  if (dtype <= UINT8_MAX && hal::SizeOf(type) > 0) return type;
  return absl::InvalidArgumentError(
      absl::StrCat("invalid data type ", dtype, ": expected 1 to ", static_cast<int>(hal::DataType::kComplex128)));
}

absl::StatusOr<hal::ReduceOp> OpOf(uint32_t op) {
  if (op <= static_cast<uint32_t>(hal::ReduceOp::kAverage)) return static_cast<hal::ReduceOp>(op);
  return absl::InvalidArgumentError(
      absl::StrCat("invalid reduction ", op, ": expected 0 to ", static_cast<int>(hal::ReduceOp::kAverage)));
}

absl::StatusOr<hal::Elements> ElementsOf(uint64_t count, const std::string& shape) {
  if (shape.size() <= hal::Elements::kMaxShapeBytes) return hal::Elements(count, shape);
  return absl::InvalidArgumentError(absl::StrCat("the description of the shape has ", shape.size(),
                                                 " bytes; the maximum is ", hal::Elements::kMaxShapeBytes));
}

absl::Status QueueTransfer(const Session& session, hal::Communicator& communicator, hal::Stream& stream,
                           const proto::Transfer& transfer) {
  HPU_ASSIGN_OR_RETURN(const hal::DataType dtype, TypeOf(transfer.dtype()));
  HPU_ASSIGN_OR_RETURN(const hal::Elements elements, ElementsOf(transfer.count(), transfer.shape()));
  const hal::DeviceAddress address = session.ToDevice(transfer.address());
  if (transfer.sends()) return communicator.Send(stream, address, elements, dtype, transfer.peer());
  return communicator.Receive(stream, address, elements, dtype, transfer.peer());
}

absl::Status QueueTransfers(const Session& session, hal::Communicator& communicator, hal::Stream& stream,
                            const proto::Collective& collective) {
  HPU_RETURN_IF_ERROR(communicator.BeginGroup());
  absl::Status status;
  for (const proto::Transfer& transfer : collective.transfers()) {
    status.Update(QueueTransfer(session, communicator, stream, transfer));
  }
  status.Update(communicator.EndGroup());
  return status;
}

absl::Status Queue(const Session& session, hal::Communicator& communicator, hal::Stream& stream,
                   const proto::Collective& collective) {
  if (collective.kind() == proto::Collective::KIND_TRANSFERS) {
    return QueueTransfers(session, communicator, stream, collective);
  }
  HPU_ASSIGN_OR_RETURN(const hal::DataType dtype, TypeOf(collective.dtype()));
  HPU_ASSIGN_OR_RETURN(const hal::ReduceOp op, OpOf(collective.op()));
  HPU_ASSIGN_OR_RETURN(const hal::Elements elements, ElementsOf(collective.count(), collective.shape()));
  const hal::DeviceAddress source = session.ToDevice(collective.source());
  const hal::DeviceAddress destination = session.ToDevice(collective.destination());
  switch (collective.kind()) {
    case proto::Collective::KIND_ALL_REDUCE:
      return communicator.AllReduce(stream, source, destination, elements, dtype, op);
    case proto::Collective::KIND_BROADCAST:
      return communicator.Broadcast(stream, source, destination, elements, dtype, collective.root());
    case proto::Collective::KIND_ALL_GATHER:
      return communicator.AllGather(stream, source, destination, elements, dtype);
    case proto::Collective::KIND_REDUCE_SCATTER:
      return communicator.ReduceScatter(stream, source, destination, elements, dtype, op);
    default:
      return absl::InvalidArgumentError(absl::StrCat(
          "invalid kind of collective ", static_cast<int>(collective.kind()),
          ": expected KIND_ALL_REDUCE, KIND_BROADCAST, KIND_ALL_GATHER, KIND_REDUCE_SCATTER or KIND_TRANSFERS"));
  }
}

// Aborts a communicator when the front process reports that another rank has left. The report may arrive before the
// communicator exists. Thread safe.
class Group {
 public:
  void Set(std::shared_ptr<hal::Communicator> communicator) {
    std::lock_guard<std::mutex> lock(mutex_);
    communicator_ = std::move(communicator);
    AbortLocked();
  }
  void End(std::string reason) {
    std::lock_guard<std::mutex> lock(mutex_);
    reason_ = std::move(reason);
    AbortLocked();
  }

 private:
  void AbortLocked() {
    if (communicator_ != nullptr && reason_.has_value()) communicator_->Abort(*reason_);
  }

  std::mutex mutex_;
  std::shared_ptr<hal::Communicator> communicator_;  // guarded by mutex_
  std::optional<std::string> reason_;                // guarded by mutex_
};

// Runs until the client ends the call.
absl::Status ServeRank(ServerCall* call, Session* session, uint64_t handle,
                       const std::shared_ptr<hal::Communicator>& communicator) {
  HPU_RETURN_IF_ERROR(session->AddCommunicator(handle, communicator));
  call->Write(proto::MakeCommunicatorResponse());
  proto::MakeCommunicatorRequest request;
  absl::StatusOr<bool> more = true;
  while ((more = call->Read(&request)).ok() && *more) {
    if (request.abort()) communicator->Abort("");
  }
  session->RemoveCommunicator(handle);
  communicator->Abort("");
  return more.status();
}

}  // namespace

absl::Status ServeCommunicator(ServerCall* call, Session* session, Front* front,
                               const proto::CommunicatorHeader& header) {
  if (header.id().size() > kMaxIdBytes || header.size() > kMaxRanks) {
    return absl::InvalidArgumentError(absl::StrCat("a communicator of ", header.size(), " ranks with an id of ",
                                                   header.id().size(), " bytes is outside the limits: at most ",
                                                   kMaxRanks, " ranks, an id of at most ", kMaxIdBytes, " bytes"));
  }
  hal::CommunicatorOptions options;
  options.id = header.id();
  options.rank = header.rank();
  options.size = header.size();
  options.abandoned = [call] { return !call->IsOpen(); };
  const Front::GroupRank rank = {header.id(), header.rank(), header.size()};
  const auto group = std::make_shared<Group>();
  bool joined = false;
  options.rendezvous = [&](int segment) -> absl::StatusOr<int> {
    HPU_ASSIGN_OR_RETURN(files::FileDescriptor common,
                         front->JoinGroup(rank, segment, options.abandoned,
                                          [group](absl::string_view reason) { group->End(std::string(reason)); }));
    joined = true;
    return common.Release();
  };
  absl::StatusOr<std::shared_ptr<hal::Communicator>> communicator = session->device().CreateCommunicator(options);
  absl::Status status = communicator.status();
  if (status.ok()) {
    group->Set(*communicator);
    status = ServeRank(call, session, header.communicator(), *communicator);
    group->Set(nullptr);
  }
  if (joined) {
    front->LeaveGroup(
        rank, absl::StrCat("rank ", rank.rank, " has left the communicator; see the messages of rank ", rank.rank));
  }
  return status;
}

absl::Status QueueCollective(const Session& session, hal::Communicator& communicator, hal::Stream& stream,
                             const proto::Collective& collective) {
  absl::Status status = Queue(session, communicator, stream, collective);
  if (!status.ok()) communicator.Abort("");
  return status;
}

}  // namespace hpu::serve
