// RunCall: server side of a client's Run call, which carries the commands of one stream.
#ifndef HPU_PLUGIN_SERVER_SERVICE_RUN_CALL_H_
#define HPU_PLUGIN_SERVER_SERVICE_RUN_CALL_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "plugin/hal/stream.h"
#include "plugin/server/service/host_pieces.h"
#include "plugin/server/service/session.h"

namespace hpu::serve {

// Queues commands on a stream of the session's device, on the call's thread. Reports and copied data are sent on the
// device's threads, or on the call's thread if the work has already ended.
class RunCall {
 public:
  // Open must be called before Execute.
  RunCall(ServerCall* call, std::shared_ptr<Session> session);
  // Blocks until all queued work has ended.
  ~RunCall();

  absl::Status Open(const proto::OpenStream& open);
  // Fails with InvalidArgument for a violation of the protocol. Failed work and refused commands are errors of the
  // stream: the client receives a report, and the call continues.
  absl::Status Execute(const proto::RunRequest& request);

 private:
  absl::Status Execute(const proto::Command& command);
  absl::Status CopyToDevice(const proto::CopyToDevice& copy);
  absl::Status CopyToHost(const proto::CopyToHost& copy);
  absl::Status CopySharedToDevice(const proto::CopySharedToDevice& copy);
  absl::Status CopyToShared(const proto::CopyToShared& copy);
  absl::Status Launch(const proto::Launch& launch);
  absl::Status Record(const proto::Record& record);
  absl::Status Wait(const proto::Wait& wait);
  absl::Status Collective(const proto::Collective& collective);
  void Clear();
  // Sends a report when the work queued so far has ended.
  void Report();
  void AfterWork(std::function<void(absl::Status)> callback);
  void SendProgress(uint64_t sequence, const absl::Status& status, bool cleared);
  // Keeps the first refusal of the device as the stream's error.
  void Keep(const absl::Status& status) {
    if (refusal_.ok()) refusal_ = status;
  }

  ServerCall* const call_;
  const std::shared_ptr<Session> session_;
  HostPieces pieces_;
  std::unique_ptr<hal::Stream> stream_;
  uint64_t sequence_ = 0;  // number of the current command
  absl::Status refusal_;
  std::vector<hal::DeviceAddress> arguments_;  // reused to avoid allocations
  std::vector<hal::DeviceAddress> results_;
};

}  // namespace hpu::serve

#endif  // HPU_PLUGIN_SERVER_SERVICE_RUN_CALL_H_
