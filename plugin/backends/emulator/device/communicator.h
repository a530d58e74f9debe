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

// Operations are commands of the streams; a stream's thread works with the threads of the other ranks.
class EmulatorCommunicator final : public common::CheckedCommunicator {
 public:
  // The id begins with a name for this process, whose devices can form one communicator, and a colon.
  static std::string NewId();
  // Blocks until all ranks have joined: through options.meet, or, if all ranks are devices of this process, for at most
  // a minute.
  static absl::StatusOr<std::unique_ptr<hal::Communicator>> Create(const EmulatorDevice* device,
                                                                   const hal::CommunicatorOptions& options);
  ~EmulatorCommunicator() override;

  void Abort(absl::string_view reason) override;

 private:
  // Operations of one kind. They run in the order of the calls, even on several streams.
  struct Lane {
    uint64_t queued = 0;
    uint64_t ended = 0;
  };

  EmulatorCommunicator(const EmulatorDevice* device, std::shared_ptr<LocalRendezvous> rendezvous,
                       std::unique_ptr<PeerGroup> group, int rank, int size);

  bool OwnsStream(const hal::Stream& stream) const override;
  absl::Status Queue(hal::Stream& stream, const common::Collective& collective) override;
  absl::Status Queue(hal::Stream& stream, std::vector<common::Transfer> transfers) override;
  // Queues work that needs the other ranks. If the stream has failed by then, the communicator is aborted instead.
  template <typename Work>
  void QueueWork(hal::Stream& stream, Lane* lane, Work work);
  // Blocks until operation `number` is the lane's next one.
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
