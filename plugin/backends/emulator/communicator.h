// The emulator's communicators: devices of one process, as those of a device server.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_COMMUNICATOR_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_COMMUNICATOR_H_

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "plugin/backends/common/checked_communicator.h"
#include "plugin/backends/emulator/meeting.h"

namespace hpu::emulator {

class EmulatorDevice;

// Operations are commands of the streams, whose threads meet those of the other ranks.
class EmulatorCommunicator final : public common::CheckedCommunicator {
 public:
  // Begins with a name for this process, whose devices can form one, and a colon.
  static std::string NewId();
  // Waits for the other ranks, for a minute.
  static absl::StatusOr<std::unique_ptr<hal::Communicator>> Create(const EmulatorDevice* device,
                                                                   const hal::CommunicatorOptions& options);
  ~EmulatorCommunicator() override;

  void Abort() override;

 private:
  EmulatorCommunicator(const EmulatorDevice* device, std::shared_ptr<Meeting> meeting, int rank, int size);

  bool OwnsStream(const hal::Stream& stream) const override;
  absl::Status Queue(hal::Stream& stream, const common::Collective& collective) override;
  absl::Status Queue(hal::Stream& stream, std::vector<common::Transfer> transfers) override;
  // Queues what meets the others. Errors of the stream before it end their waiting, too.
  template <typename Work>
  void QueueWork(hal::Stream& stream, Work work);

  const EmulatorDevice* const device_;
  const std::shared_ptr<Meeting> meeting_;

  std::mutex mutex_;
  std::condition_variable ended_;
  int queued_ = 0;  // guarded by mutex_: operations that have not ended
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_COMMUNICATOR_H_
