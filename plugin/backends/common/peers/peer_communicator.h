// PeerCommunicator: communicator of devices that exchange data through host memory, or run collectives themselves.
#ifndef HPU_PLUGIN_BACKENDS_COMMON_PEERS_PEER_COMMUNICATOR_H_
#define HPU_PLUGIN_BACKENDS_COMMON_PEERS_PEER_COMMUNICATOR_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "plugin/backends/common/checked_communicator.h"
#include "plugin/backends/common/peers/device_collectives.h"
#include "plugin/backends/common/peers/local_rendezvous.h"
#include "plugin/backends/common/peers/peer_group.h"

namespace hpu::peers {

// A range of device memory that an exchange reads or writes as a whole.
struct Operand {
  hal::DeviceAddress address = 0;
  uint64_t bytes = 0;
  bool is_written = false;
};

// Work on a stream's thread that waits for the other ranks. `before` is the stream's error so far; if it is OK, `data`
// points to the operands in host memory. Returns the stream's error after the exchange.
using Exchange = std::function<absl::Status(const absl::Status& before, absl::Span<char* const> data)>;

// Interface to the rank's device. Implementations are thread safe.
class PeerDevice {
 public:
  virtual ~PeerDevice() = default;

  virtual bool OwnsStream(const hal::Stream& stream) const = 0;
  // Queues `exchange` on one of the device's streams. `exchange` runs once, even if the stream has failed.
  virtual void QueueExchange(hal::Stream& stream, std::vector<Operand> operands, Exchange exchange) = 0;
  // Null if all collectives of the backend's devices go through host memory.
  virtual CollectiveDevice* collective_device() { return nullptr; }
};

// Operations run on the streams' threads, which exchange data with the stream threads of the other ranks. If the ranks'
// devices run collectives, the threads only compare the collectives before each launch, since devices that launch
// different collectives wait for each other forever. Sends and receives always go through host memory: a rank does not
// know the transfers between other ranks, which a program of all devices would have to contain.
class PeerCommunicator final : public common::CheckedCommunicator {
 public:
  // The id is "<process>:<random>". Without options.rendezvous, only devices of this process can join the communicator.
  static std::string NewId();
  // Blocks until all ranks have joined: through options.rendezvous if it is set, else for at most a minute. Without
  // options.rendezvous, all ranks must be devices of this process. Borrows `device`, `liveness` and `memory`.
  static absl::StatusOr<std::unique_ptr<hal::Communicator>> Create(PeerDevice& device, const common::Liveness& liveness,
                                                                   const common::DeviceMemory& memory,
                                                                   const hal::CommunicatorOptions& options);
  ~PeerCommunicator() override;

  void Abort(absl::string_view reason) override;

 private:
  // Counters of the collectives, or of the transfers. The operations of a lane run in queueing order, even on several
  // streams.
  struct Lane {
    uint64_t queued = 0;
    uint64_t ended = 0;
  };

  // Devices that run the collectives.
  struct Team {
    std::vector<uint64_t> devices;  // ids by rank; empty if the collectives go through host memory
    uint64_t first_launch = 0;      // random; equal on all ranks
  };

  PeerCommunicator(PeerDevice& device, const common::Liveness& liveness, const common::DeviceMemory& memory,
                   std::shared_ptr<LocalRendezvous> rendezvous, std::unique_ptr<PeerGroup> group, Team team, int rank,
                   int size);

  // Exchanges the ranks' members. Fails if their devices cannot run collectives together.
  static absl::StatusOr<Team> MeetDevices(PeerDevice& device, PeerGroup& group, int rank, int size);

  bool OwnsStream(const hal::Stream& stream) const override { return device_.OwnsStream(stream); }
  absl::Status Queue(hal::Stream& stream, const common::Collective& collective) override;
  absl::Status Queue(hal::Stream& stream, std::vector<common::Transfer> transfers) override;
  // Queues `work(data)`, which waits for the other ranks. If the stream fails before `work` runs, the communicator is
  // aborted instead.
  template <typename Work>
  void QueueWork(hal::Stream& stream, std::vector<Operand> operands, Lane* lane, Work work);
  // Runs an operation when all earlier operations of its lane have ended. If `before` is an error, aborts the
  // communicator instead.
  template <typename Work>
  absl::Status RunInTurn(Lane* lane, uint64_t number, const absl::Status& before, const Work& work);
  // The part of a collective that runs on the stream's thread, if the devices move the data.
  absl::Status RunOnDevices(DeviceCollective& collective, const MappedCollective& request, uint64_t number);
  uint64_t NextNumber(Lane* lane);
  // Blocks until all earlier operations of the lane have ended.
  absl::Status AwaitTurn(const Lane& lane, uint64_t number);

  PeerDevice& device_;
  const common::Liveness& liveness_;
  const std::shared_ptr<LocalRendezvous> rendezvous_;  // null if the ranks are processes
  const std::unique_ptr<PeerGroup> group_;
  const Team team_;

  std::mutex mutex_;
  std::condition_variable ended_;
  Lane collectives_;  // guarded by mutex_
  Lane transfers_;    // guarded by mutex_
};

}  // namespace hpu::peers

#endif  // HPU_PLUGIN_BACKENDS_COMMON_PEERS_PEER_COMMUNICATOR_H_
