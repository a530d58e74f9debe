// The emulator's communicators: devices of one process, as those of a device server.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_COMMUNICATOR_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_COMMUNICATOR_H_

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "plugin/backends/emulator/meeting.h"
#include "plugin/hal/communicator.h"

namespace hpu::emulator {

class EmulatorDevice;
class EmulatorStream;

// Operations are commands of the streams, whose threads meet those of the other ranks.
class EmulatorCommunicator final : public hal::Communicator {
 public:
  // Begins with a name for this process, whose devices can form one, and a colon.
  static std::string NewId();
  // Waits for the other ranks, for a minute.
  static absl::StatusOr<std::unique_ptr<hal::Communicator>> Create(const EmulatorDevice* device,
                                                                   const hal::CommunicatorOptions& options);
  ~EmulatorCommunicator() override;

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  absl::Status AllReduce(hal::Stream& stream, hal::DeviceAddress source, hal::DeviceAddress destination, uint64_t count,
                         hal::DataType dtype, hal::ReduceOp op) override;
  absl::Status Broadcast(hal::Stream& stream, hal::DeviceAddress source, hal::DeviceAddress destination, uint64_t count,
                         hal::DataType dtype, int root) override;
  absl::Status AllGather(hal::Stream& stream, hal::DeviceAddress source, hal::DeviceAddress destination, uint64_t count,
                         hal::DataType dtype) override;
  absl::Status ReduceScatter(hal::Stream& stream, hal::DeviceAddress source, hal::DeviceAddress destination,
                             uint64_t count, hal::DataType dtype, hal::ReduceOp op) override;
  absl::Status Send(hal::Stream& stream, hal::DeviceAddress source, uint64_t count, hal::DataType dtype,
                    int peer) override;
  absl::Status Receive(hal::Stream& stream, hal::DeviceAddress destination, uint64_t count, hal::DataType dtype,
                       int peer) override;
  absl::Status BeginGroup() override;
  absl::Status EndGroup() override;
  void Abort() override;

 private:
  EmulatorCommunicator(const EmulatorDevice* device, std::shared_ptr<Meeting> meeting, int rank, int size)
      : device_(device), meeting_(std::move(meeting)), rank_(rank), size_(size) {}

  // The stream as the emulator's, of this device.
  absl::StatusOr<EmulatorStream*> OwnStream(hal::Stream& stream) const;
  absl::Status CheckRank(int rank) const;
  // Address, in the device's memory, of so many elements of a type.
  absl::StatusOr<char*> Data(hal::DeviceAddress address, uint64_t count, uint64_t parts, hal::DataType dtype,
                             const char* what) const;
  // `part` with its pointers, each of so many times `count` elements; a rank that does not read or write has none.
  absl::Status QueuePart(hal::Stream& stream, hal::DeviceAddress source, uint64_t source_parts,
                         hal::DeviceAddress destination, uint64_t destination_parts, Part part);
  absl::Status QueueTransfer(hal::Stream& stream, hal::DeviceAddress address, Transfer transfer, const char* what);
  absl::Status QueueTransfers(EmulatorStream* stream, std::vector<Transfer> transfers);
  // Queues what meets the others. Errors of the stream before it end their waiting, too.
  template <typename Work>
  void Queue(EmulatorStream* stream, Work work);

  const EmulatorDevice* const device_;
  const std::shared_ptr<Meeting> meeting_;
  const int rank_;
  const int size_;
  bool in_group_ = false;
  EmulatorStream* group_stream_ = nullptr;
  std::vector<Transfer> group_;

  std::mutex mutex_;
  std::condition_variable ended_;
  int queued_ = 0;  // guarded by mutex_: operations that have not ended
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_COMMUNICATOR_H_
