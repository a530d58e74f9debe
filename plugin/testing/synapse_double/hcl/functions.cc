#include "plugin/testing/synapse_double/hcl/functions.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "plugin/backends/gaudi/synapse/status_names.h"
#include "plugin/testing/synapse_double/hcl/communicator.h"
#include "plugin/testing/synapse_double/hcl/element_types.h"
#include "plugin/testing/synapse_double/hcl/mailbox.h"
#include "plugin/testing/synapse_double/runtime/device.h"
#include "plugin/testing/synapse_double/runtime/handles.h"
#include "plugin/testing/synapse_double/runtime/process.h"
#include "plugin/testing/synapse_double/runtime/stream.h"

namespace hpu::synapse_double {
namespace {

using hccl::hcclComm_t;
using hccl::hcclDataType_t;
using hccl::hcclRedOp_t;
using hccl::hcclResult_t;
using hccl::hcclSuccess;
using hccl::hcclUniqueId;
using Kind = CollectiveRequest::Kind;

// Arbitrary.
constexpr int kVersion = 10800;
constexpr int kMaxRanks = 1024;

// Result of a call that may not run. Numbers in the switch FAIL_CALLS are HCCL results.
hcclResult_t ResultOfCall(synStatus status) {
  switch (status) {
    case synapse::synUninitialized:
      return hccl::hcclUninitialized;
    case synapse::synSynapseTerminated:
      return hccl::hcclSynapseTerminated;
    default:
      return static_cast<hcclResult_t>(status);
  }
}

// Result of a failed call of SynapseAI.
hcclResult_t ResultOf(synStatus status) {
  if (status == synapse::synSuccess) return hcclSuccess;
  return synapse::LosesDevice(status) ? hccl::hcclSynapseTerminated : hccl::hcclStreamError;
}

// Queues operations. Returns the communicator's error rather than the stream's: the communicator may have failed its
// stream during the call.
hcclResult_t Enqueue(Communicator& communicator, Stream* stream, std::vector<CollectiveOperation> operations) {
  const hcclResult_t result = ResultOf(communicator.Enqueue(stream, std::move(operations)));
  const hcclResult_t error = communicator.error();
  return result == hccl::hcclStreamError && error != hcclSuccess ? error : result;
}

#define DOUBLE_HCCL_CALL(function)                            \
  const ApiCall hccl_call(function, Lifecycle::kInitialized); \
  if (hccl_call.status() != synapse::synSuccess) return ResultOfCall(hccl_call.status())

#define DOUBLE_HCCL_RETURN_IF_ERROR(expression) \
  if (const hcclResult_t hccl_result = (expression); hccl_result != hcclSuccess) return hccl_result

hcclResult_t RefuseCall(hcclResult_t result, const std::string& text) {
  Refuse(Rule::kCollectives, synapse::synFailHccl, Text(text, ": ", ResultName(result)));
  return result;
}

hcclResult_t FindCommunicator(hcclComm_t handle, std::shared_ptr<Communicator>* communicator) {
  return Handles::Get().Find(handle, communicator) == synapse::synSuccess ? hcclSuccess : hccl::hcclInvalidArgument;
}

// Operations between hcclGroupStart and hcclGroupEnd of a thread.
struct Group {
  struct Entry {
    std::shared_ptr<Communicator> communicator;
    std::shared_ptr<Stream> stream;
    CollectiveOperation operation;
  };
  int depth = 0;
  std::vector<Entry> entries;
};

Group& ThisGroup() {
  thread_local Group group;
  return group;
}

bool IsTransferKind(Kind kind) { return kind == Kind::kSend || kind == Kind::kReceive; }

// A range of device memory of an operation.
struct OperandRange {
  const char* side;
  uint64_t address = 0;
  uint64_t bytes = 0;

  bool Overlaps(const OperandRange& other) const {
    return bytes > 0 && other.bytes > 0 && address < other.address + other.bytes && other.address < address + bytes;
  }
};

// Ranges of a request, as NCCL defines them.
OperandRange SourceOf(const CollectiveRequest& request, const Communicator& communicator, const void* address) {
  const uint64_t bytes = request.count * BytesOf(request.type);
  const auto number = reinterpret_cast<uint64_t>(address);
  switch (request.kind) {
    case Kind::kReduceScatter:
      return {"source", number, bytes * communicator.size()};
    case Kind::kBroadcast:
      return {"source", number, request.root_or_peer == communicator.rank() ? bytes : 0};
    case Kind::kReceive:
      return {"source", 0, 0};
    default:
      return {"source", number, bytes};
  }
}

OperandRange DestinationOf(const CollectiveRequest& request, const Communicator& communicator, const void* address) {
  const uint64_t bytes = request.count * BytesOf(request.type);
  const auto number = reinterpret_cast<uint64_t>(address);
  if (request.kind == Kind::kSend) return {"destination", 0, 0};
  return {"destination", number, request.kind == Kind::kAllGather ? bytes * communicator.size() : bytes};
}

// Whether source and destination overlap as an in-place operation allows.
bool IsInPlace(const CollectiveRequest& request, int rank, const OperandRange& source,
               const OperandRange& destination) {
  const uint64_t own_block = rank * request.count * BytesOf(request.type);
  switch (request.kind) {
    case Kind::kAllGather:
      return source.address == destination.address + own_block;
    case Kind::kReduceScatter:
      return destination.address == source.address + own_block;
    default:
      return source.address == destination.address;
  }
}

hcclResult_t ResolveRange(const OperandRange& range, uint64_t element_bytes, CollectiveOperation* operation,
                          char** data) {
  if (range.bytes == 0) return hcclSuccess;
  std::shared_ptr<Allocation> allocation = HoldDeviceRange(range.address, range.bytes);
  if (allocation == nullptr || range.address % element_bytes != 0) {
    return RefuseCall(hccl::hcclInvalidArgument,
                      Text("the ", range.side, ", ", range.bytes, " bytes at ", Hex(range.address), ", is ",
                           allocation == nullptr ? "not inside one allocation" : "misaligned"));
  }
  *data = allocation->Data(range.address);
  operation->uses.push_back(std::move(allocation));
  return hcclSuccess;
}

hcclResult_t CheckRequest(const CollectiveRequest& request, const Communicator& communicator) {
  const synapse::Generation generation = GetGeneration();
  const bool reduces = request.kind == Kind::kAllReduce || request.kind == Kind::kReduceScatter;
  if (BytesOf(request.type) == 0 || request.op < hccl::hcclSum || request.op > hccl::hcclAvg) {
    return RefuseCall(hccl::hcclInvalidArgument, Text("no type ", static_cast<int>(request.type), " or no operation ",
                                                      static_cast<int>(request.op)));
  }
  if (reduces ? !IsReducible(request.type, generation) : !IsMovable(request.type, generation)) {
    return RefuseCall(hccl::hcclUnsupported, Text(Describe(request), ": the card lacks the type"));
  }
  if (request.root_or_peer < 0 || request.root_or_peer >= communicator.size()) {
    return RefuseCall(hccl::hcclInvalidArgument, Text(Describe(request), ": no such rank"));
  }
  if (IsTransferKind(request.kind) && request.root_or_peer == communicator.rank()) {
    return RefuseCall(hccl::hcclInvalidUsage, Text(Describe(request), ": it is this rank"));
  }
  return hcclSuccess;
}

// Checks an operation, and queues it on its stream or adds it to the thread's group.
hcclResult_t Call(const CollectiveRequest& request, const void* source, const void* destination, hcclComm_t comm,
                  void* stream) {
  Group::Entry entry;
  entry.operation.request = request;
  DOUBLE_HCCL_RETURN_IF_ERROR(FindCommunicator(comm, &entry.communicator));
  DOUBLE_HCCL_RETURN_IF_ERROR(Handles::Get().Find(static_cast<synapse::synStreamHandle>(stream), &entry.stream) ==
                                      synapse::synSuccess
                                  ? hcclSuccess
                                  : hccl::hcclInvalidArgument);
  DOUBLE_HCCL_RETURN_IF_ERROR(
      entry.stream->CheckEngine(Engine::kCollective) == synapse::synSuccess ? hcclSuccess : hccl::hcclInvalidArgument);
  const Communicator& communicator = *entry.communicator;
  DOUBLE_HCCL_RETURN_IF_ERROR(communicator.error());
  DOUBLE_HCCL_RETURN_IF_ERROR(CheckRequest(request, communicator));
  const OperandRange from = SourceOf(request, communicator, source);
  const OperandRange to = DestinationOf(request, communicator, destination);
  if (from.Overlaps(to) && !IsInPlace(request, communicator.rank(), from, to)) {
    return RefuseCall(hccl::hcclInvalidArgument, Text(Describe(request), ": source ", Hex(from.address),
                                                      " and destination ", Hex(to.address), " overlap"));
  }
  const uint64_t element_bytes = BytesOf(request.type);
  DOUBLE_HCCL_RETURN_IF_ERROR(ResolveRange(from, element_bytes, &entry.operation, &entry.operation.source));
  DOUBLE_HCCL_RETURN_IF_ERROR(ResolveRange(to, element_bytes, &entry.operation, &entry.operation.destination));
  entry.operation.source_bytes = from.bytes;
  entry.operation.destination_bytes = to.bytes;
  Group& group = ThisGroup();
  if (group.depth > 0) {
    group.entries.push_back(std::move(entry));
    return hcclSuccess;
  }
  std::vector<CollectiveOperation> operations;
  operations.push_back(std::move(entry.operation));
  return Enqueue(*entry.communicator, entry.stream.get(), std::move(operations));
}

hcclResult_t GetVersion(int* version) {
  DOUBLE_HCCL_CALL("hcclGetVersion");
  if (version == nullptr) return RefuseCall(hccl::hcclInvalidArgument, "version is null");
  *version = kVersion;
  return hcclSuccess;
}

hcclResult_t GetUniqueId(hcclUniqueId* id) {
  DOUBLE_HCCL_CALL("hcclGetUniqueId");
  if (id == nullptr) return RefuseCall(hccl::hcclInvalidArgument, "id is null");
  const std::string folder = Mailbox::NewFolder();
  if (folder.empty() || folder.size() > sizeof(id->internal)) return hccl::hcclSystemError;
  std::memset(id->internal, 0xEE, sizeof(id->internal));  // an id holds any bytes
  std::memcpy(id->internal, folder.data(), folder.size());
  id->length = folder.size();
  return hcclSuccess;
}

hcclResult_t CommInitRank(hcclComm_t* comm, int ranks, hcclUniqueId id, int rank) {
  DOUBLE_HCCL_CALL("hcclCommInitRank");
  if (comm == nullptr) return RefuseCall(hccl::hcclInvalidArgument, "comm is null");
  if (Device::Current() == nullptr) return RefuseCall(hccl::hcclNoDeviceFound, "no device is acquired");
  if (ranks < 1 || ranks > kMaxRanks || rank < 0 || rank >= ranks) {
    return RefuseCall(hccl::hcclInvalidArgument, Text("no rank ", rank, " of ", ranks));
  }
  if (id.length == 0 || id.length > sizeof(id.internal)) {
    return RefuseCall(hccl::hcclInvalidArgument, Text("no id: its length is ", id.length));
  }
  std::shared_ptr<Communicator> communicator;
  DOUBLE_HCCL_RETURN_IF_ERROR(Communicator::Join(std::string(reinterpret_cast<const char*>(id.internal), id.length),
                                                 rank, ranks, &communicator));
  *comm = Handles::Get().Add<hcclComm_t>(std::move(communicator));
  return hcclSuccess;
}

hcclResult_t CommDestroy(hcclComm_t comm) {
  DOUBLE_HCCL_CALL("hcclCommDestroy");
  std::shared_ptr<Communicator> communicator;
  DOUBLE_HCCL_RETURN_IF_ERROR(FindCommunicator(comm, &communicator));
  if (communicator->is_in_flight()) synapse_double::Abort(Rule::kInFlight, "queued work uses the communicator");
  Handles::Get().Remove(comm);
  return hcclSuccess;
}

hcclResult_t CommAbort(hcclComm_t comm) {
  DOUBLE_HCCL_CALL("hcclCommAbort");
  std::shared_ptr<Communicator> communicator;
  DOUBLE_HCCL_RETURN_IF_ERROR(FindCommunicator(comm, &communicator));
  communicator->Abort();
  Handles::Get().Remove(comm);
  return hcclSuccess;
}

hcclResult_t CommGetAsyncError(hcclComm_t comm, hcclResult_t* error) {
  DOUBLE_HCCL_CALL("hcclCommGetAsyncError");
  if (error == nullptr) return RefuseCall(hccl::hcclInvalidArgument, "error is null");
  std::shared_ptr<Communicator> communicator;
  DOUBLE_HCCL_RETURN_IF_ERROR(FindCommunicator(comm, &communicator));
  *error = communicator->error();
  return hcclSuccess;
}

hcclResult_t AllReduce(const void* send, void* receive, size_t count, hcclDataType_t type, hcclRedOp_t op,
                       hcclComm_t comm, void* stream) {
  DOUBLE_HCCL_CALL("hcclAllReduce");
  return Call({Kind::kAllReduce, type, op, 0, count}, send, receive, comm, stream);
}

hcclResult_t Broadcast(const void* send, void* receive, size_t count, hcclDataType_t type, int root, hcclComm_t comm,
                       void* stream) {
  DOUBLE_HCCL_CALL("hcclBroadcast");
  return Call({Kind::kBroadcast, type, hccl::hcclSum, root, count}, send, receive, comm, stream);
}

hcclResult_t AllGather(const void* send, void* receive, size_t send_count, hcclDataType_t type, hcclComm_t comm,
                       void* stream) {
  DOUBLE_HCCL_CALL("hcclAllGather");
  return Call({Kind::kAllGather, type, hccl::hcclSum, 0, send_count}, send, receive, comm, stream);
}

hcclResult_t ReduceScatter(const void* send, void* receive, size_t receive_count, hcclDataType_t type, hcclRedOp_t op,
                           hcclComm_t comm, void* stream) {
  DOUBLE_HCCL_CALL("hcclReduceScatter");
  return Call({Kind::kReduceScatter, type, op, 0, receive_count}, send, receive, comm, stream);
}

hcclResult_t Send(const void* send, size_t count, hcclDataType_t type, int peer, hcclComm_t comm, void* stream) {
  DOUBLE_HCCL_CALL("hcclSend");
  return Call({Kind::kSend, type, hccl::hcclSum, peer, count}, send, nullptr, comm, stream);
}

hcclResult_t Receive(void* receive, size_t count, hcclDataType_t type, int peer, hcclComm_t comm, void* stream) {
  DOUBLE_HCCL_CALL("hcclRecv");
  return Call({Kind::kReceive, type, hccl::hcclSum, peer, count}, nullptr, receive, comm, stream);
}

hcclResult_t GroupStart() {
  DOUBLE_HCCL_CALL("hcclGroupStart");
  ++ThisGroup().depth;
  return hcclSuccess;
}

// The transfers of a communicator on a stream become one command, in the place of the first transfer.
hcclResult_t GroupEnd() {
  DOUBLE_HCCL_CALL("hcclGroupEnd");
  Group& group = ThisGroup();
  if (group.depth == 0) return RefuseCall(hccl::hcclInvalidUsage, "no group is open in this thread");
  if (--group.depth > 0) return hcclSuccess;
  std::vector<Group::Entry> entries = std::exchange(group.entries, {});
  for (size_t first = 0; first < entries.size(); ++first) {
    if (entries[first].communicator == nullptr) continue;  // queued with an earlier one
    const std::shared_ptr<Communicator> communicator = std::exchange(entries[first].communicator, nullptr);
    const std::shared_ptr<Stream> stream = entries[first].stream;
    const bool is_transfer = IsTransferKind(entries[first].operation.request.kind);
    std::vector<CollectiveOperation> operations;
    operations.push_back(std::move(entries[first].operation));
    for (size_t i = first + 1; is_transfer && i < entries.size(); ++i) {
      if (entries[i].communicator != communicator || entries[i].stream != stream ||
          !IsTransferKind(entries[i].operation.request.kind)) {
        continue;
      }
      entries[i].communicator = nullptr;
      operations.push_back(std::move(entries[i].operation));
    }
    DOUBLE_HCCL_RETURN_IF_ERROR(Enqueue(*communicator, stream.get(), std::move(operations)));
  }
  return hcclSuccess;
}

const char* GetErrorString(hcclResult_t result) { return ResultName(result); }

}  // namespace
}  // namespace hpu::synapse_double

const hpu::hccl::Functions* synapse_double_hccl_functions() {
  static const auto* const functions = [] {
    auto* made = new hpu::hccl::Functions;
    made->hcclGetVersion = hpu::synapse_double::GetVersion;
    made->hcclGetUniqueId = hpu::synapse_double::GetUniqueId;
    made->hcclCommInitRank = hpu::synapse_double::CommInitRank;
    made->hcclCommDestroy = hpu::synapse_double::CommDestroy;
    made->hcclCommAbort = hpu::synapse_double::CommAbort;
    made->hcclCommGetAsyncError = hpu::synapse_double::CommGetAsyncError;
    made->hcclAllReduce = hpu::synapse_double::AllReduce;
    made->hcclBroadcast = hpu::synapse_double::Broadcast;
    made->hcclAllGather = hpu::synapse_double::AllGather;
    made->hcclReduceScatter = hpu::synapse_double::ReduceScatter;
    made->hcclSend = hpu::synapse_double::Send;
    made->hcclRecv = hpu::synapse_double::Receive;
    made->hcclGroupStart = hpu::synapse_double::GroupStart;
    made->hcclGroupEnd = hpu::synapse_double::GroupEnd;
    made->hcclGetErrorString = hpu::synapse_double::GetErrorString;
    return made;
  }();
  return functions;
}
