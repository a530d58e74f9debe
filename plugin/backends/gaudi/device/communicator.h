// GaudiCommunicator: communicator of Gaudi cards, through HCCL.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_DEVICE_COMMUNICATOR_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_DEVICE_COMMUNICATOR_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "plugin/backends/common/checked_communicator.h"
#include "plugin/backends/common/peers/peer_group.h"
#include "plugin/backends/gaudi/device/hccl_communicator.h"
#include "plugin/backends/gaudi/device/mark_pool.h"
#include "plugin/backends/gaudi/device/rank_watch.h"
#include "plugin/backends/gaudi/hccl/library.h"
#include "plugin/backends/gaudi/synapse/generation.h"

namespace hpu::gaudi {

class GaudiDevice;
class GaudiStream;

// The cards exchange the data. HCCL leaves two cases undefined: ranks that call different operations, and the end of a
// rank's process. So the ranks also form a PeerGroup, in which the streams' threads compare the ranks' requests while
// the cards work. An operation that fails ends the communicator on all ranks.
class GaudiCommunicator final : public common::CheckedCommunicator {
 public:
  // Blocks until all ranks have joined through options.rendezvous. Without it, the ranks are processes of one machine
  // and join through a ProcessRendezvous. `library` and `device` must outlive the communicator.
  static absl::StatusOr<std::unique_ptr<hal::Communicator>> Create(GaudiDevice* device, const hccl::Library& library,
                                                                   synapse::Generation generation,
                                                                   const hal::CommunicatorOptions& options);
  ~GaudiCommunicator() override;

  void Abort(absl::string_view reason) override;

 private:
  class Work;

  // Operations that the ranks compare in calling order: all collectives, or all transfers.
  struct Lane {
    uint64_t queued = 0;
    uint64_t compared = 0;
  };

  // Queues an operation's calls of HCCL on SynapseAI's stream.
  using Submit = std::function<absl::Status(hccl::hcclComm_t comm, synapse::synStreamHandle stream)>;
  // Blocks until all ranks, or all peers of the transfers, have called the operation. Fails if their operations differ
  // or the communicator has ended.
  using Compare = std::function<absl::Status(peers::PeerGroup& group)>;

  // Leaked, not destroyed, in a forked child, where the watch's thread does not exist and HCCL must not be called.
  struct State {
    // Destroyed in reverse order: the watch uses the other members.
    std::unique_ptr<peers::PeerGroup> group;
    std::unique_ptr<HcclCommunicator> hccl;
    std::mutex mutex;
    std::condition_variable changed;
    uint64_t queued = 0;            // operations; guarded by mutex, like the next three members
    std::set<uint64_t> unfinished;  // numbers of operations that have not ended
    Lane collectives;
    Lane transfers;
    std::unique_ptr<RankWatch> watch;

    // Waits up to half a second for the group to be aborted; returns whether the group is aborted.
    bool AwaitEnd();
  };

  GaudiCommunicator(GaudiDevice* device, synapse::Generation generation, std::unique_ptr<State> state, int rank,
                    int size);

  bool OwnsStream(const hal::Stream& stream) const override;
  absl::Status Queue(hal::Stream& stream, const common::Collective& collective) override;
  absl::Status Queue(hal::Stream& stream, std::vector<common::Transfer> transfers) override;
  // The call of HCCL for a collective.
  absl::StatusOr<Submit> SubmitOf(const common::Collective& collective) const;
  void QueueWork(hal::Stream& stream, Lane* lane, Submit submit, Compare compare, const char* name, uint64_t bytes);
  void* ToCard(hal::DeviceAddress address) const;

  // Called on streams' threads. Blocks until the earlier operations of the lane have been compared.
  absl::Status AwaitTurn(const Lane& lane, uint64_t number);
  // Ends HCCL's work, after earlier operations have ended.
  void EndAfterEarlier(uint64_t number);

  GaudiDevice* const device_;
  const synapse::Generation generation_;
  std::unique_ptr<State> state_;
  // End of the last operation, and its stream. HCCL's operations must not overlap on different streams.
  std::shared_ptr<Mark> last_;
  synapse::synStreamHandle last_stream_ = nullptr;
};

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_DEVICE_COMMUNICATOR_H_
