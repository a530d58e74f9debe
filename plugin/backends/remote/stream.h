// RemoteStream: stream of the remote backend, implemented by one Run call to the server.
#ifndef HPU_PLUGIN_BACKENDS_REMOTE_STREAM_H_
#define HPU_PLUGIN_BACKENDS_REMOTE_STREAM_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "plugin/backends/remote/event.h"
#include "plugin/backends/remote/shared_bounce_buffer.h"
#include "plugin/backends/remote/stream_progress.h"
#include "plugin/hal/stream.h"

namespace hpu::remote {

class RemoteDevice;

// A queueing call checks its arguments and sends a message, without waiting for an answer. A copy to the device writes
// its data into the message or into shared memory, so the source may be reused immediately. A copy through messages, a
// fill or a launch blocks while too many bytes are unsent (rpc::kMaxUnsentBytes). A copy through shared memory blocks
// while earlier copies use all the shared memory.
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

  // Sends a collective that the communicator has checked.
  void SendCollective(const proto::Collective& collective);
  const RemoteDevice* device() const { return device_; }
  // Whether a requested report of the server is outstanding. Thread safe.
  bool IsWaitedFor() const;

  // The position after all commands queued so far. Requests the server's report for this position.
  common::Point End();

 private:
  // State shared by the threads that send and the connection's thread. Leaked, not destroyed, in a forked child.
  struct State {
    explicit State(Session* session) : progress(session) {}

    StreamProgress progress;
    std::mutex mutex;
    proto::RunRequest request;  // guarded by mutex, like all members down to `reported`; reused to avoid allocations
    proto::Command* command;    // element of `request`
    std::string message;
    uint64_t sent = 0;      // number of the last command sent
    uint64_t reported = 0;  // number of the last command for which a report was requested
    std::unique_ptr<Call> call;
  };

  // Calls `write` to fill in a command, calls `prepare` with the command's number, and sends the command. Requires
  // state_->mutex. Connection errors are reported by StreamProgress.
  template <typename Write, typename Prepare>
  void Send(const Write& write, const Prepare& prepare);
  template <typename Write>
  void Send(const Write& write) {
    Send(write, [](uint64_t) {});
  }
  // Like Send, for a command whose end the server reports.
  template <typename Write>
  void SendReported(const Write& write);
  // Like SendReported above; runs `done` when the report arrives. If the Run call has ended, returns the device's error
  // and does not run `done`.
  template <typename Write>
  absl::Status SendReported(const Write& write, std::function<void(absl::Status)> done);
  // The four functions below send one piece of a copy, in a message or through shared memory.
  void SendToDevice(const char* source, hal::DeviceAddress destination, uint64_t bytes);
  void SendToHost(hal::DeviceAddress source, char* destination, uint64_t bytes);
  absl::Status SendSharedToDevice(SharedBounceBuffer* bounce, const char* source, hal::DeviceAddress destination,
                                  uint64_t bytes);
  absl::Status SendToHostShared(SharedBounceBuffer* bounce, hal::DeviceAddress source, char* destination,
                                uint64_t bytes);
  // Blocks while more than rpc::kMaxUnsentBytes bytes are unsent.
  void WaitForRoom();
  absl::Status Clear();

  RemoteDevice* const device_;
  const hal::StreamKind kind_;
  std::unique_ptr<State> state_;
};

}  // namespace hpu::remote

#endif  // HPU_PLUGIN_BACKENDS_REMOTE_STREAM_H_
