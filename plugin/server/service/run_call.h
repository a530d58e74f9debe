// RunCall: one stream of a client's device.
#ifndef HPU_PLUGIN_SERVER_SERVICE_RUN_CALL_H_
#define HPU_PLUGIN_SERVER_SERVICE_RUN_CALL_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "plugin/hal/stream.h"
#include "plugin/server/service/session.h"
#include "plugin/server/service/staging.h"

namespace hpu::serve {

// Hands commands to a stream of the session's device, on the call's thread. Reports come from the device's own threads.
class RunCall {
 public:
  // The client has opened the call with `open`.
  RunCall(ServerCall* call, std::shared_ptr<Session> session);
  // Waits for queued work.
  ~RunCall();

  absl::Status Open(const proto::OpenStream& open);
  // InvalidArgument for what breaks the protocol. Errors of work, and commands that the device refuses, are errors of
  // the stream: they are reported and end nothing.
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
  // Once the work so far has ended.
  void Report();
  void AfterWork(std::function<void(absl::Status)> callback);
  void SendProgress(uint64_t sequence, const absl::Status& status, bool cleared);
  // The first refusal of the device is the stream's error from then on.
  void Keep(const absl::Status& status) {
    if (refusal_.ok()) refusal_ = status;
  }

  ServerCall* const call_;
  const std::shared_ptr<Session> session_;
  Staging staging_;
  std::unique_ptr<hal::Stream> stream_;
  uint64_t sequence_ = 0;  // number of the command that runs
  absl::Status refusal_;
  std::vector<hal::DeviceAddress> arguments_;  // kept for their storage
  std::vector<hal::DeviceAddress> results_;
};

}  // namespace hpu::serve

#endif  // HPU_PLUGIN_SERVER_SERVICE_RUN_CALL_H_
