// RemoteCommunicator: communicator among the modules of one device server.
#ifndef HPU_PLUGIN_BACKENDS_REMOTE_COMMUNICATOR_H_
#define HPU_PLUGIN_BACKENDS_REMOTE_COMMUNICATOR_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/synchronization/notification.h"
#include "plugin/backends/common/checked_communicator.h"
#include "plugin/backends/remote/connection.h"
#include "plugin/backends/remote/session.h"

namespace hpu::remote {

class RemoteDevice;

// Sends collectives as commands to the server, which runs them in its own memory. If the server's device rejects a
// command, the stream fails with the device's error.
class RemoteCommunicator final : public common::CheckedCommunicator {
 public:
  // The id consists of Acquired.network (the name of the server's network), a colon and a random id. Fails with
  // Unimplemented if the server does not support collectives.
  static absl::StatusOr<std::string> NewId(const Session& session);
  // Blocks until the server reports that all ranks have joined.
  static absl::StatusOr<std::unique_ptr<hal::Communicator>> Create(RemoteDevice* device,
                                                                   const hal::CommunicatorOptions& options);
  ~RemoteCommunicator() override;

  // Ignores `reason`, because the server chooses the reason.
  void Abort(absl::string_view reason) override;

 private:
  RemoteCommunicator(RemoteDevice* device, int rank, int size);

  absl::Status Join(const hal::CommunicatorOptions& options);
  bool OwnsStream(const hal::Stream& stream) const override;
  absl::Status Queue(hal::Stream& stream, const common::Collective& collective) override;
  absl::Status Queue(hal::Stream& stream, std::vector<common::Transfer> transfers) override;

  RemoteDevice* const device_;
  uint64_t handle_ = 0;
  absl::Notification answered_;
  absl::Status answer_;  // valid once answered_ is notified
  std::unique_ptr<Call> call_;
};

}  // namespace hpu::remote

#endif  // HPU_PLUGIN_BACKENDS_REMOTE_COMMUNICATOR_H_
