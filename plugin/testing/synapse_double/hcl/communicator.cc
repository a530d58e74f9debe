#include "plugin/testing/synapse_double/hcl/communicator.h"

#include <cstring>

#include "plugin/testing/synapse_double/hcl/element_types.h"
#include "plugin/testing/synapse_double/runtime/status.h"
#include "plugin/testing/synapse_double/runtime/switches.h"

namespace hpu::synapse_double {
namespace {

using hccl::hcclResult_t;
using Kind = CollectiveRequest::Kind;

const char* NameOf(Kind kind) {
  switch (kind) {
    case Kind::kAllReduce:
      return "AllReduce";
    case Kind::kBroadcast:
      return "Broadcast";
    case Kind::kAllGather:
      return "AllGather";
    case Kind::kReduceScatter:
      return "ReduceScatter";
    case Kind::kSend:
      return "Send";
    case Kind::kReceive:
      return "Receive";
  }
  return "?";
}

const char* NameOf(hccl::hcclRedOp_t op) {
  static constexpr const char* kNames[] = {"sum", "prod", "min", "max", "avg"};
  return kNames[op];
}

bool Reduces(Kind kind) { return kind == Kind::kAllReduce || kind == Kind::kReduceScatter; }
bool IsTransfer(Kind kind) { return kind == Kind::kSend || kind == Kind::kReceive; }

// A message: the request, then the source.
std::string Pack(const CollectiveOperation& operation) {
  std::string message(sizeof(CollectiveRequest) + operation.source_bytes, '\0');
  std::memcpy(message.data(), &operation.request, sizeof(CollectiveRequest));
  if (operation.source_bytes > 0) {
    std::memcpy(message.data() + sizeof(CollectiveRequest), operation.source, operation.source_bytes);
  }
  return message;
}

CollectiveRequest RequestOf(const std::string& message) {
  CollectiveRequest request;
  std::memcpy(&request, message.data(), sizeof(request));
  return request;
}

const char* DataOf(const std::string& message) { return message.data() + sizeof(CollectiveRequest); }

bool Agree(const CollectiveRequest& one, const CollectiveRequest& other) {
  return std::memcmp(&one, &other, sizeof(one)) == 0;
}

std::string CollectiveName(uint64_t number, int rank) { return Text("collective-", number, "-", rank); }

}  // namespace

std::string Describe(const CollectiveRequest& request) {
  std::string text = NameOf(request.kind);
  if (Reduces(request.kind)) text += Text("(", NameOf(request.op), ")");
  if (request.kind == Kind::kBroadcast) text += Text(" from rank ", request.root_or_peer);
  if (request.kind == Kind::kSend) text += Text(" to rank ", request.root_or_peer);
  if (request.kind == Kind::kReceive) text += Text(" from rank ", request.root_or_peer);
  return text + Text(" of ", request.count, " elements of ", NameOf(request.type));
}

hcclResult_t Communicator::Join(const std::string& folder, int rank, int size,
                                std::shared_ptr<Communicator>* communicator) {
  std::string problem;
  std::unique_ptr<Mailbox> mailbox = Mailbox::Join(folder, rank, size, &problem);
  if (mailbox == nullptr) {
    Refuse(Rule::kCollectives, synapse::synFailHccl, problem);
    return hccl::hcclInvalidUsage;
  }
  for (int other = 0; other < size; ++other) {
    if (other == rank) continue;
    int other_size = 0;
    if (mailbox->AwaitRank(other, &other_size) != Mailbox::Outcome::kArrived) {
      Fail(Rule::kCollectives, synapse::synFailHccl, Text("rank ", other, " of ", size, " has not joined in time"));
      return hccl::hcclSocketError;
    }
    if (other_size != size) {
      Refuse(Rule::kCollectives, synapse::synFailHccl,
             Text("rank ", other, " expects ", other_size, " ranks, rank ", rank, " expects ", size));
      return hccl::hcclInvalidUsage;
    }
  }
  communicator->reset(new Communicator(std::move(mailbox), rank, size));
  return hccl::hcclSuccess;
}

synStatus Communicator::FailWith(hcclResult_t result, const std::string& text) {
  hcclResult_t none = hccl::hcclSuccess;
  error_.compare_exchange_strong(none, result);
  return Fail(Rule::kCollectives, synapse::synFailHccl, Text("rank ", rank_, ": ", text, ": ", ResultName(result)));
}

synStatus Communicator::FailedWait(Mailbox::Outcome outcome, int rank, const CollectiveRequest& request) {
  switch (outcome) {
    case Mailbox::Outcome::kRankLeft:
      return FailWith(hccl::hcclSocketError, Text(Describe(request), ": rank ", rank, " has left"));
    case Mailbox::Outcome::kTimeout:
      return FailWith(hccl::hcclSocketError, Text(Describe(request), ": no answer from rank ", rank, " for ",
                                                  GetSwitches().hccl_timeout_ms, " ms"));
    default:
      return FailWith(hccl::hcclInternalError, Text(Describe(request), ": hcclCommAbort was called"));
  }
}

void Communicator::Abort() { mailbox_->Cancel(); }

synStatus Communicator::Enqueue(Stream* stream, std::vector<CollectiveOperation> operations) {
  const uint64_t number = queued_.fetch_add(1);
  return stream->Enqueue([number, communicator = HoldInFlight(shared_from_this()), operations = std::move(operations)] {
    return communicator->Run(number, operations);
  });
}

synStatus Communicator::Run(uint64_t number, const std::vector<CollectiveOperation>& operations) {
  if (error_ != hccl::hcclSuccess) return synapse::synFailHccl;
  if (finished_ != number) {
    FailWith(hccl::hcclInvalidUsage, "an operation of another stream has not ended");
    return Refuse(Rule::kCollectives, synapse::synFailHccl,
                  Text(Describe(operations[0].request), " starts before the communicator's operation ", finished_,
                       ", which was called earlier on another stream, has ended: order the streams by an event"));
  }
  const synStatus status =
      IsTransfer(operations[0].request.kind) ? RunTransfers(operations) : RunCollective(operations[0]);
  finished_ = number + 1;
  return status;
}

synStatus Communicator::RunCollective(const CollectiveOperation& operation) {
  const uint64_t number = collectives_++;
  mailbox_->Post(CollectiveName(number, rank_), Pack(operation));
  std::vector<std::string> messages(size_);
  for (int rank = 0; rank < size_; ++rank) {
    const Mailbox::Outcome outcome = mailbox_->Await(CollectiveName(number, rank), rank, &messages[rank]);
    if (outcome != Mailbox::Outcome::kArrived) return FailedWait(outcome, rank, operation.request);
  }
  // A rank that has posted this operation's message has read the messages of the previous operation.
  if (number > 0) mailbox_->Remove(CollectiveName(number - 1, rank_));
  std::string requests;
  bool agree = true;
  for (int rank = 0; rank < size_; ++rank) {
    const CollectiveRequest request = RequestOf(messages[rank]);
    agree = agree && Agree(request, operation.request);
    requests += Text(rank > 0 ? "; " : "", "rank ", rank, ": ", Describe(request));
  }
  if (!agree) return FailWith(hccl::hcclInvalidUsage, Text("the ranks call different operations: ", requests));
  Compute(operation, messages);
  return synapse::synSuccess;
}

void Communicator::Compute(const CollectiveOperation& operation, const std::vector<std::string>& sources) {
  const CollectiveRequest& request = operation.request;
  const uint64_t bytes = request.count * BytesOf(request.type);
  if (bytes == 0) return;
  std::vector<const char*> data;
  for (const std::string& source : sources) {
    data.push_back(DataOf(source) + (request.kind == Kind::kReduceScatter ? rank_ * bytes : 0));
  }
  switch (request.kind) {
    case Kind::kAllReduce:
    case Kind::kReduceScatter:
      return Reduce(request.type, request.op, data, request.count, operation.destination);
    case Kind::kBroadcast:
      std::memcpy(operation.destination, data[request.root_or_peer], bytes);
      return;
    case Kind::kAllGather:
      for (int rank = 0; rank < size_; ++rank) std::memcpy(operation.destination + rank * bytes, data[rank], bytes);
      return;
    default:
      return;
  }
}

// Each side posts its request, the sender with the data. Then it waits for the other side's request.
synStatus Communicator::RunTransfers(const std::vector<CollectiveOperation>& transfers) {
  std::vector<std::string> awaited;
  for (const CollectiveOperation& transfer : transfers) {
    const bool sends = transfer.request.kind == Kind::kSend;
    const int peer = transfer.request.root_or_peer;
    const std::pair<int, int> ends = sends ? std::pair(rank_, peer) : std::pair(peer, rank_);
    const std::string pair = Text(ends.first, "-", ends.second, "-", transfers_[ends]++);
    mailbox_->Post((sends ? "send-" : "receive-") + pair, Pack(transfer));
    awaited.push_back((sends ? "receive-" : "send-") + pair);
  }
  for (size_t i = 0; i < transfers.size(); ++i) {
    const CollectiveRequest& own = transfers[i].request;
    const int peer = own.root_or_peer;
    std::string message;
    const Mailbox::Outcome outcome = mailbox_->Await(awaited[i], peer, &message);
    if (outcome != Mailbox::Outcome::kArrived) return FailedWait(outcome, peer, own);
    mailbox_->Remove(awaited[i]);
    const CollectiveRequest other = RequestOf(message);
    if (other.count != own.count || other.type != own.type) {
      return FailWith(hccl::hcclInvalidUsage, Text("rank ", rank_, ": ", Describe(own), "; rank ", peer, ": ",
                                                   Describe(other), ": they differ"));
    }
    if (own.kind == Kind::kReceive && own.count > 0) {
      std::memcpy(transfers[i].destination, DataOf(message), transfers[i].destination_bytes);
    }
  }
  return synapse::synSuccess;
}

}  // namespace hpu::synapse_double
