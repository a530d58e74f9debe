// Communicator: one rank's side of the double's collectives.
#ifndef HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_HCL_COMMUNICATOR_H_
#define HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_HCL_COMMUNICATOR_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "plugin/backends/gaudi/hccl/types.h"
#include "plugin/testing/synapse_double/hcl/mailbox.h"
#include "plugin/testing/synapse_double/runtime/device_memory.h"
#include "plugin/testing/synapse_double/runtime/handles.h"
#include "plugin/testing/synapse_double/runtime/in_flight.h"
#include "plugin/testing/synapse_double/runtime/stream.h"

namespace hpu::synapse_double {

// Part of an operation that the ranks must agree on. A plain struct, because messages hold its bytes.
struct CollectiveRequest {
  enum class Kind : uint32_t { kAllReduce, kBroadcast, kAllGather, kReduceScatter, kSend, kReceive };

  Kind kind = Kind::kAllReduce;
  hccl::hcclDataType_t type = hccl::hcclFloat32;
  hccl::hcclRedOp_t op = hccl::hcclSum;
  int32_t root_or_peer = 0;
  uint64_t count = 0;
};

// "AllReduce(sum) of 10 elements of f32"
std::string Describe(const CollectiveRequest& request);

// A request with its device memory, held until the operation is destroyed (rule 20).
struct CollectiveOperation {
  CollectiveRequest request;
  char* source = nullptr;  // null if this rank's source is not read
  char* destination = nullptr;
  uint64_t source_bytes = 0;
  uint64_t destination_bytes = 0;
  std::vector<std::shared_ptr<Allocation>> uses;
};

// Thread safe. Operations run on the threads of streams; the first one that fails makes the communicator fail for good.
class Communicator : public InFlight, public std::enable_shared_from_this<Communicator> {
 public:
  static constexpr HandleKind kKind = HandleKind::kCommunicator;

  // Blocks until all ranks have joined.
  static hccl::hcclResult_t Join(const std::string& folder, int rank, int size,
                                 std::shared_ptr<Communicator>* communicator);

  int rank() const { return rank_; }
  int size() const { return size_; }
  // The result of the operation that failed; hcclSuccess if none has.
  hccl::hcclResult_t error() const { return error_; }

  // Queues transfers that run together, or one collective. Operations run in the order of these calls: an operation
  // that another stream starts out of order breaks rule 24.
  synStatus Enqueue(Stream* stream, std::vector<CollectiveOperation> operations);

  // Makes running and queued operations fail.
  void Abort();

 private:
  Communicator(std::unique_ptr<Mailbox> mailbox, int rank, int size)
      : mailbox_(std::move(mailbox)), rank_(rank), size_(size) {}

  synStatus Run(uint64_t number, const std::vector<CollectiveOperation>& operations);
  synStatus RunCollective(const CollectiveOperation& operation);
  synStatus RunTransfers(const std::vector<CollectiveOperation>& transfers);
  void Compute(const CollectiveOperation& operation, const std::vector<std::string>& sources);
  synStatus FailWith(hccl::hcclResult_t result, const std::string& text);
  synStatus FailedWait(Mailbox::Outcome outcome, int rank, const CollectiveRequest& request);

  const std::unique_ptr<Mailbox> mailbox_;
  const int rank_;
  const int size_;
  std::atomic<hccl::hcclResult_t> error_{hccl::hcclSuccess};
  std::atomic<uint64_t> queued_{0};    // commands
  std::atomic<uint64_t> finished_{0};  // commands
  // Numbers of collectives and, by sender and receiver, of transfers that have run. Only the running command uses them.
  uint64_t collectives_ = 0;
  std::map<std::pair<int, int>, uint64_t> transfers_;
};

}  // namespace hpu::synapse_double

#endif  // HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_HCL_COMMUNICATOR_H_
