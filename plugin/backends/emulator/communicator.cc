#include "plugin/backends/emulator/communicator.h"

#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "plugin/backends/emulator/device.h"
#include "plugin/backends/emulator/share.h"
#include "plugin/backends/emulator/stream.h"
#include "plugin/hal/status_macros.h"

namespace hpu::emulator {

using hal::DataType;
using hal::DeviceAddress;
using hal::ReduceOp;

namespace {

std::string RandomName() {
  std::random_device random;
  std::string name;
  for (int i = 0; i < 4; ++i) absl::StrAppend(&name, absl::Hex(random(), absl::kZeroPad8));
  return name;
}

}  // namespace

std::string EmulatorCommunicator::NewId() {
  static const auto* process = new std::string(RandomName());
  return absl::StrCat(*process, ":", RandomName());
}

absl::StatusOr<std::unique_ptr<hal::Communicator>> EmulatorCommunicator::Create(
    const EmulatorDevice* device, const hal::CommunicatorOptions& options) {
  if (options.size < 1 || options.rank < 0 || options.rank >= options.size) {
    return absl::InvalidArgumentError(absl::StrCat("rank ", options.rank, " of ", options.size));
  }
  HPU_ASSIGN_OR_RETURN(std::shared_ptr<Meeting> meeting, Meeting::Find(options.id, options.size));
  HPU_RETURN_IF_ERROR(meeting->Join(options));
  return std::unique_ptr<hal::Communicator>(
      new EmulatorCommunicator(device, std::move(meeting), options.rank, options.size));
}

EmulatorCommunicator::~EmulatorCommunicator() {
  if (device_->liveness().forked()) return;
  std::unique_lock<std::mutex> lock(mutex_);
  ended_.wait(lock, [this] { return queued_ == 0; });
  meeting_->Abort(absl::StrCat("rank ", rank_, " has left the communicator"));
}

void EmulatorCommunicator::Abort() { meeting_->Abort(absl::StrCat("rank ", rank_, " has aborted the communicator")); }

absl::StatusOr<EmulatorStream*> EmulatorCommunicator::OwnStream(hal::Stream& stream) const {
  HPU_RETURN_IF_ERROR(device_->liveness().Check());
  auto* own = dynamic_cast<EmulatorStream*>(&stream);
  if (own != nullptr && own->device() == device_) return own;
  return absl::InvalidArgumentError("a collective operation on a stream of another device");
}

absl::Status EmulatorCommunicator::CheckRank(int rank) const {
  if (rank >= 0 && rank < size_) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("there is no rank ", rank, " in a communicator of ", size_));
}

absl::StatusOr<char*> EmulatorCommunicator::Data(DeviceAddress address, uint64_t count, uint64_t parts, DataType dtype,
                                                 const char* what) const {
  uint64_t bytes = hal::SizeOf(dtype);
  if (bytes == 0 || __builtin_mul_overflow(bytes, parts, &bytes) || __builtin_mul_overflow(bytes, count, &bytes)) {
    return absl::InvalidArgumentError(absl::StrCat(what, ": ", count, " elements of ", hal::NameOf(dtype)));
  }
  HPU_RETURN_IF_ERROR(device_->memory().Check(address, bytes, what));
  return device_->ToData(address);
}

template <typename Work>
void EmulatorCommunicator::Queue(EmulatorStream* stream, Work work) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    ++queued_;
  }
  stream->Meet([this, work = std::move(work)](const absl::Status& before) {
    absl::Status status = before;
    if (before.ok()) {
      status = work();
    } else {
      meeting_->Abort(absl::StrCat("rank ", rank_, " failed: ", before.message()));
    }
    std::lock_guard<std::mutex> lock(mutex_);
    --queued_;
    ended_.notify_all();
    return status;
  });
}

absl::Status EmulatorCommunicator::QueuePart(hal::Stream& stream, DeviceAddress source, uint64_t source_parts,
                                             DeviceAddress destination, uint64_t destination_parts, Part part) {
  HPU_ASSIGN_OR_RETURN(EmulatorStream * own, OwnStream(stream));
  if (in_group_) return absl::InvalidArgumentError("groups are for Send and Receive");
  HPU_ASSIGN_OR_RETURN(part.source, Data(source, part.count, source_parts, part.dtype, "source of a collective"));
  HPU_ASSIGN_OR_RETURN(part.destination,
                       Data(destination, part.count, destination_parts, part.dtype, "destination of a collective"));
  const bool reduces = part.kind == Part::Kind::kAllReduce || part.kind == Part::Kind::kReduceScatter;
  if (reduces && !IsReducible(part.dtype)) {
    return absl::InvalidArgumentError(absl::StrCat("a reduction of ", hal::NameOf(part.dtype)));
  }
  Queue(own, [this, part] { return meeting_->Run(rank_, part); });
  return absl::OkStatus();
}

absl::Status EmulatorCommunicator::AllReduce(hal::Stream& stream, DeviceAddress source, DeviceAddress destination,
                                             uint64_t count, DataType dtype, ReduceOp op) {
  return QueuePart(stream, source, 1, destination, 1, {Part::Kind::kAllReduce, nullptr, nullptr, count, dtype, op, 0});
}

absl::Status EmulatorCommunicator::Broadcast(hal::Stream& stream, DeviceAddress source, DeviceAddress destination,
                                             uint64_t count, DataType dtype, int root) {
  HPU_RETURN_IF_ERROR(CheckRank(root));
  return QueuePart(stream, rank_ == root ? source : 0, rank_ == root ? 1 : 0, destination, 1,
                   {Part::Kind::kBroadcast, nullptr, nullptr, count, dtype, ReduceOp::kSum, root});
}

absl::Status EmulatorCommunicator::AllGather(hal::Stream& stream, DeviceAddress source, DeviceAddress destination,
                                             uint64_t count, DataType dtype) {
  return QueuePart(stream, source, 1, destination, size_,
                   {Part::Kind::kAllGather, nullptr, nullptr, count, dtype, ReduceOp::kSum, 0});
}

absl::Status EmulatorCommunicator::ReduceScatter(hal::Stream& stream, DeviceAddress source, DeviceAddress destination,
                                                 uint64_t count, DataType dtype, ReduceOp op) {
  return QueuePart(stream, source, size_, destination, 1,
                   {Part::Kind::kReduceScatter, nullptr, nullptr, count, dtype, op, 0});
}

absl::Status EmulatorCommunicator::Send(hal::Stream& stream, DeviceAddress source, uint64_t count, DataType dtype,
                                        int peer) {
  return QueueTransfer(stream, source, {true, peer, nullptr, count, dtype}, "source of Send");
}

absl::Status EmulatorCommunicator::Receive(hal::Stream& stream, DeviceAddress destination, uint64_t count,
                                           DataType dtype, int peer) {
  return QueueTransfer(stream, destination, {false, peer, nullptr, count, dtype}, "destination of Receive");
}

absl::Status EmulatorCommunicator::QueueTransfer(hal::Stream& stream, DeviceAddress address, Transfer transfer,
                                                 const char* what) {
  HPU_ASSIGN_OR_RETURN(EmulatorStream * own, OwnStream(stream));
  HPU_RETURN_IF_ERROR(CheckRank(transfer.peer));
  if (transfer.peer == rank_)
    return absl::InvalidArgumentError(absl::StrCat(what, ": from rank ", rank_, " to itself"));
  HPU_ASSIGN_OR_RETURN(transfer.data, Data(address, transfer.count, 1, transfer.dtype, what));
  if (!in_group_) return QueueTransfers(own, {transfer});
  if (group_stream_ != nullptr && group_stream_ != own) {
    return absl::InvalidArgumentError("transfers of one group on several streams");
  }
  for (const Transfer& other : group_) {
    if (other.peer == transfer.peer && other.sends == transfer.sends) {
      return absl::InvalidArgumentError(absl::StrCat(what, ": a second one with rank ", transfer.peer, " in a group"));
    }
  }
  group_stream_ = own;
  group_.push_back(transfer);
  return absl::OkStatus();
}

absl::Status EmulatorCommunicator::QueueTransfers(EmulatorStream* stream, std::vector<Transfer> transfers) {
  Queue(stream, [this, transfers = std::move(transfers)] { return meeting_->Exchange(rank_, transfers); });
  return absl::OkStatus();
}

absl::Status EmulatorCommunicator::BeginGroup() {
  if (in_group_) return absl::FailedPreconditionError("groups do not nest");
  in_group_ = true;
  return absl::OkStatus();
}

absl::Status EmulatorCommunicator::EndGroup() {
  if (!in_group_) return absl::FailedPreconditionError("no group has begun");
  in_group_ = false;
  EmulatorStream* const stream = std::exchange(group_stream_, nullptr);
  if (stream == nullptr) return absl::OkStatus();
  return QueueTransfers(stream, std::exchange(group_, {}));
}

}  // namespace hpu::emulator
