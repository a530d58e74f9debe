// The remote backend's communicators: modules of one server, which does the work in its own memory.
#ifndef HPU_PLUGIN_BACKENDS_REMOTE_COMMUNICATOR_H_
#define HPU_PLUGIN_BACKENDS_REMOTE_COMMUNICATOR_H_

#include <memory>
#include <string>

#include "absl/synchronization/notification.h"
#include "plugin/backends/remote/connection.h"
#include "plugin/backends/remote/session.h"
#include "plugin/hal/communicator.h"

namespace hpu::remote {

class RemoteDevice;
class RemoteStream;

// Checks addresses and sends commands; the server's device checks the rest, as an error of the stream.
class RemoteCommunicator final : public hal::Communicator {
 public:
  // Begins with the server's name for what its sessions share, and a colon. Unimplemented if it has none.
  static absl::StatusOr<std::string> NewId(const Session& session);
  // Waits until the server says that all ranks have come.
  static absl::StatusOr<std::unique_ptr<hal::Communicator>> Create(RemoteDevice* device,
                                                                   const hal::CommunicatorOptions& options);
  ~RemoteCommunicator() override;

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
  RemoteCommunicator(RemoteDevice* device, int rank, int size) : device_(device), rank_(rank), size_(size) {}

  absl::Status Join(const std::string& id);
  absl::StatusOr<RemoteStream*> OwnStream(hal::Stream& stream) const;
  absl::Status CheckRank(int rank) const;
  // The server's address of so many times `count` elements.
  absl::StatusOr<uint64_t> Address(hal::DeviceAddress address, uint64_t parts, uint64_t count, hal::DataType dtype,
                                   const char* what) const;
  // Sends the rest of `command`: addresses of so many times `count` elements.
  absl::Status Send(hal::Stream& stream, hal::DeviceAddress source, uint64_t source_parts,
                    hal::DeviceAddress destination, uint64_t destination_parts, uint64_t count, hal::DataType dtype,
                    proto::Collective command);
  absl::Status AddTransfer(hal::Stream& stream, bool sends, hal::DeviceAddress address, uint64_t count,
                           hal::DataType dtype, int peer);

  RemoteDevice* const device_;
  const int rank_;
  const int size_;
  uint64_t handle_ = 0;
  absl::Notification answered_;
  absl::Status answer_;  // once answered_
  std::unique_ptr<Call> call_;
  bool in_group_ = false;
  RemoteStream* group_stream_ = nullptr;
  proto::Collective group_;
};

}  // namespace hpu::remote

#endif  // HPU_PLUGIN_BACKENDS_REMOTE_COMMUNICATOR_H_
