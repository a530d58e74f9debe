#include "plugin/backends/common/checked_communicator.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"

namespace hpu::common {

using hal::DataType;
using hal::DeviceAddress;
using hal::ReduceOp;

namespace {

// Names of a collective and its operands for error texts.
struct Names {
  const char* operation;
  const char* source;
  const char* destination;
};

Names NamesOf(Collective::Kind kind) {
  switch (kind) {
    case Collective::Kind::kAllReduce:
      return {"AllReduce", "source of AllReduce", "destination of AllReduce"};
    case Collective::Kind::kReduceScatter:
      return {"ReduceScatter", "source of ReduceScatter", "destination of ReduceScatter"};
    case Collective::Kind::kAllGather:
      return {"AllGather", "source of AllGather", "destination of AllGather"};
    case Collective::Kind::kBroadcast:
      return {"Broadcast", "source of Broadcast", "destination of Broadcast"};
  }
  return {"collective", "source of a collective", "destination of a collective"};
}

}  // namespace

absl::Status CheckedCommunicator::CheckStream(const hal::Stream& stream, const char* operation) const {
  HPU_RETURN_IF_ERROR(liveness_.Check());
  if (OwnsStream(stream)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(operation, ": the stream belongs to another device; use a stream of the communicator's device"));
}

absl::Status CheckedCommunicator::CheckRank(int rank, const char* what) const {
  if (rank >= 0 && rank < size_) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(what, " is rank ", rank, ", but the communicator has ranks 0 to ", size_ - 1));
}

absl::Status CheckedCommunicator::CheckElements(DeviceAddress address, uint64_t parts, uint64_t count, DataType dtype,
                                                const char* what) const {
  uint64_t bytes = hal::SizeOf(dtype);
  if (bytes == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, ": invalid data type ", static_cast<int>(dtype), "; pass a value of hal::DataType"));
  }
  if (__builtin_mul_overflow(bytes, parts, &bytes) || __builtin_mul_overflow(bytes, count, &bytes)) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, ": ", parts, " times ", count, " elements of ", hal::NameOf(dtype), " exceed 2^64 bytes"));
  }
  return memory_.Check(address, bytes, what);
}

absl::Status CheckedCommunicator::Check(hal::Stream& stream, const Collective& collective, uint64_t source_parts,
                                        uint64_t destination_parts) const {
  const Names names = NamesOf(collective.kind);
  HPU_RETURN_IF_ERROR(CheckStream(stream, names.operation));
  if (in_group_) {
    return absl::InvalidArgumentError(
        absl::StrCat(names.operation, " in a group: a group may contain only Send and Receive; call EndGroup first"));
  }
  HPU_RETURN_IF_ERROR(
      CheckElements(collective.source, source_parts, collective.elements.count, collective.dtype, names.source));
  return CheckElements(collective.destination, destination_parts, collective.elements.count, collective.dtype,
                       names.destination);
}

absl::Status CheckedCommunicator::AllReduce(hal::Stream& stream, DeviceAddress source, DeviceAddress destination,
                                            const hal::Elements& elements, DataType dtype, ReduceOp op) {
  const Collective collective = {Collective::Kind::kAllReduce, source, destination, elements, dtype, op, 0};
  HPU_RETURN_IF_ERROR(Check(stream, collective, 1, 1));
  return Queue(stream, collective);
}

absl::Status CheckedCommunicator::Broadcast(hal::Stream& stream, DeviceAddress source, DeviceAddress destination,
                                            const hal::Elements& elements, DataType dtype, int root) {
  HPU_RETURN_IF_ERROR(CheckRank(root, "root of Broadcast"));
  const bool reads = rank_ == root;
  const Collective collective = {
      Collective::Kind::kBroadcast, reads ? source : 0, destination, elements, dtype, ReduceOp::kSum, root};
  HPU_RETURN_IF_ERROR(Check(stream, collective, reads ? 1 : 0, 1));
  return Queue(stream, collective);
}

absl::Status CheckedCommunicator::AllGather(hal::Stream& stream, DeviceAddress source, DeviceAddress destination,
                                            const hal::Elements& elements, DataType dtype) {
  const Collective collective = {Collective::Kind::kAllGather, source, destination, elements, dtype, ReduceOp::kSum, 0};
  HPU_RETURN_IF_ERROR(Check(stream, collective, 1, size_));
  return Queue(stream, collective);
}

absl::Status CheckedCommunicator::ReduceScatter(hal::Stream& stream, DeviceAddress source, DeviceAddress destination,
                                                const hal::Elements& elements, DataType dtype, ReduceOp op) {
  const Collective collective = {Collective::Kind::kReduceScatter, source, destination, elements, dtype, op, 0};
  HPU_RETURN_IF_ERROR(Check(stream, collective, size_, 1));
  return Queue(stream, collective);
}

absl::Status CheckedCommunicator::Send(hal::Stream& stream, DeviceAddress source, const hal::Elements& elements,
                                       DataType dtype, int peer) {
  return Add(stream, {true, peer, source, elements, dtype});
}

absl::Status CheckedCommunicator::Receive(hal::Stream& stream, DeviceAddress destination, const hal::Elements& elements,
                                          DataType dtype, int peer) {
  return Add(stream, {false, peer, destination, elements, dtype});
}

absl::Status CheckedCommunicator::Add(hal::Stream& stream, const Transfer& transfer) {
  const char* const what = transfer.sends ? "source of Send" : "destination of Receive";
  HPU_RETURN_IF_ERROR(CheckStream(stream, transfer.sends ? "Send" : "Receive"));
  HPU_RETURN_IF_ERROR(CheckRank(transfer.peer, transfer.sends ? "peer of Send" : "peer of Receive"));
  if (transfer.peer == rank_) {
    return absl::InvalidArgumentError(absl::StrCat(transfer.sends ? "Send" : "Receive", ": rank ", rank_,
                                                   " cannot exchange data with itself; copy the data instead"));
  }
  HPU_RETURN_IF_ERROR(CheckElements(transfer.address, 1, transfer.elements.count, transfer.dtype, what));
  if (!in_group_) return Queue(stream, {transfer});
  if (group_stream_ != nullptr && group_stream_ != &stream) {
    return absl::InvalidArgumentError(
        absl::StrCat(transfer.sends ? "Send" : "Receive", ": all transfers of a group must use the same stream"));
  }
  for (const Transfer& other : group_) {
    if (other.peer == transfer.peer && other.sends == transfer.sends) {
      return absl::InvalidArgumentError(absl::StrCat("the group already has a ",
                                                     transfer.sends ? "Send to" : "Receive from", " rank ",
                                                     transfer.peer, "; use two groups"));
    }
  }
  group_stream_ = &stream;
  group_.push_back(transfer);
  return absl::OkStatus();
}

absl::Status CheckedCommunicator::BeginGroup() {
  if (in_group_) return absl::FailedPreconditionError("BeginGroup: groups cannot be nested; call EndGroup first");
  in_group_ = true;
  return absl::OkStatus();
}

absl::Status CheckedCommunicator::EndGroup() {
  if (!in_group_) return absl::FailedPreconditionError("EndGroup: no group is open; call BeginGroup first");
  in_group_ = false;
  hal::Stream* const stream = std::exchange(group_stream_, nullptr);
  if (stream == nullptr) return absl::OkStatus();
  return Queue(*stream, std::exchange(group_, {}));
}

}  // namespace hpu::common
