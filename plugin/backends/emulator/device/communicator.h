// Communicators of the emulator, among devices of one process or of several.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_DEVICE_COMMUNICATOR_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_DEVICE_COMMUNICATOR_H_

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "plugin/backends/common/checked_communicator.h"
#include "plugin/backends/emulator/device/local_rendezvous.h"
#include "plugin/backends/emulator/device/peer_group.h"

namespace hpu::emulator {

class EmulatorDevice;

// Operations run as stream commands. The stream's thread exchanges data with the stream threads of the other ranks.
class EmulatorCommunicator final : public common::CheckedCommunicator {
 public:
  // The id is "<process>:<random>". Without options.meet, only devices of this process can join the communicator.
  static std::string NewId();
  // Blocks until all ranks have joined: through options.meet if it is set, else for at most a minute. Without
  // options.meet, all ranks must be devices of this process.
  static absl::StatusOr<std::unique_ptr<hal::Communicator>> Create(const EmulatorDevice* device,
                                                                   const hal::CommunicatorOptions& options);
  ~EmulatorCommunicator() override;

  void Abort(absl::string_view reason) override;

 private:
  // Counts the collectives, or the transfers. The operations of a lane run in the order in which they were queued, even
  // on several streams.
  struct Lane {
    uint64_t queued = 0;
    uint64_t ended = 0;
  };

  EmulatorCommunicator(const EmulatorDevice* device, std::shared_ptr<LocalRendezvous> rendezvous,
                       std::unique_ptr<PeerGroup> group, int rank, int size);

  bool OwnsStream(const hal::Stream& stream) const override;
  absl::Status Queue(hal::Stream& stream, const common::Collective& collective) override;
  absl::Status Queue(hal::Stream& stream, std::vector<common::Transfer> transfers) override;
  // Queues `work`, which waits for the other ranks. If the stream fails before `work` runs, aborts the communicator
  // instead.
  template <typename Work>
  void QueueWork(hal::Stream& stream, Lane* lane, Work work);
  // Blocks until all earlier operations of the lane have ended.
  absl::Status AwaitTurn(const Lane& lane, uint64_t number);

  const EmulatorDevice* const device_;
  const std::shared_ptr<LocalRendezvous> rendezvous_;  // null if the ranks are processes
  const std::unique_ptr<PeerGroup> group_;

  std::mutex mutex_;
  std::condition_variable ended_;
  Lane collectives_;  // guarded by mutex_
  Lane transfers_;    // guarded by mutex_
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_DEVICE_COMMUNICATOR_H_
