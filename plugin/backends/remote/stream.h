// The remote backend's streams: a call to the server each.
#ifndef HPU_PLUGIN_BACKENDS_REMOTE_STREAM_H_
#define HPU_PLUGIN_BACKENDS_REMOTE_STREAM_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "plugin/backends/remote/event.h"
#include "plugin/backends/remote/shared_staging.h"
#include "plugin/backends/remote/stream_progress.h"
#include "plugin/hal/stream.h"

namespace hpu::remote {

class RemoteDevice;

// Queueing checks everything that the caller can get wrong and sends a message, without waiting for an answer. Data of
// copies to the device are in the message or in shared memory, so the source may be reused at once. A copy waits while
// all shared memory is in use by earlier ones.
class RemoteStream final : public hal::Stream {
 public:
  RemoteStream(RemoteDevice* device, hal::StreamKind kind);
  ~RemoteStream() override;

  hal::StreamKind kind() const override { return kind_; }
  absl::Status CopyToDevice(const void* source, hal::DeviceAddress destination, uint64_t bytes) override;
  absl::Status CopyToHost(hal::DeviceAddress source, void* destination, uint64_t bytes) override;
  absl::Status CopyOnDevice(hal::DeviceAddress source, hal::DeviceAddress destination, uint64_t bytes) override;
  absl::Status Fill(hal::DeviceAddress destination, uint8_t value, uint64_t bytes) override;
  absl::Status Launch(std::shared_ptr<const hal::Recipe> recipe, const hal::LaunchArguments& arguments) override;
  absl::Status Record(hal::Event& event) override;
  absl::Status Wait(const hal::Event& event) override;
  absl::Status AddCallback(std::function<void(absl::Status)> callback) override;
  absl::Status Synchronize() override;

  // For communicators, which have checked it.
  void SendCollective(const proto::Collective& collective);
  const RemoteDevice* device() const { return device_; }
  // Whether a report of the server has been asked for and has not come. Any thread may ask.
  bool IsWaitedFor() const;

  // The end of the work queued so far, of which the server will report.
  common::Point End();

 private:
  // What sending and the connection's thread work with. Left alone, not destroyed, in a forked child.
  struct State {
    explicit State(Session* session) : progress(session) {}

    StreamProgress progress;
    std::mutex mutex;
    proto::RunRequest request;  // guarded by mutex, as all below; kept for its storage
    proto::Command* command;    // the one in `request`
    std::string message;
    uint64_t sent = 0;      // number of the command sent last
    uint64_t reported = 0;  // number of the last one of which the server reports
    std::unique_ptr<Call> call;
  };

  // Sends a command that `write` fills in, once `prepare` has run with its number. Holds state_->mutex. An error of the
  // connection shows in the progress.
  template <typename Write, typename Prepare>
  void Send(const Write& write, const Prepare& prepare);
  template <typename Write>
  void Send(const Write& write) {
    Send(write, [](uint64_t) {});
  }
  // The same for a command of which the server reports.
  template <typename Write>
  void SendReported(const Write& write);
  // The same, and runs `done` on that report. An error if the connection has gone: then it will not run.
  template <typename Write>
  absl::Status SendReported(const Write& write, std::function<void(absl::Status)> done);
  // A part of a copy: in a message, or through a piece of shared memory.
  void SendToDevice(const char* source, hal::DeviceAddress destination, uint64_t bytes);
  void SendToHost(hal::DeviceAddress source, char* destination, uint64_t bytes);
  absl::Status SendSharedToDevice(SharedStaging* staging, const char* source, hal::DeviceAddress destination,
                                  uint64_t bytes);
  absl::Status SendToHostShared(SharedStaging* staging, hal::DeviceAddress source, char* destination, uint64_t bytes);
  // Waits while too much has not been sent.
  void WaitForRoom();
  absl::Status Clear();

  RemoteDevice* const device_;
  const hal::StreamKind kind_;
  std::unique_ptr<State> state_;
};

}  // namespace hpu::remote

#endif  // HPU_PLUGIN_BACKENDS_REMOTE_STREAM_H_
