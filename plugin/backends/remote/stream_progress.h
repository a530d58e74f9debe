// StreamProgress: progress of a remote stream, as reported by the device server.
#ifndef HPU_PLUGIN_BACKENDS_REMOTE_STREAM_PROGRESS_H_
#define HPU_PLUGIN_BACKENDS_REMOTE_STREAM_PROGRESS_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "plugin/backends/common/timeline.h"
#include "plugin/backends/remote/session.h"

namespace hpu::remote {

// Thread safe. Receive and End run on the connection's thread.
class StreamProgress {
 public:
  explicit StreamProgress(Session* session)
      : session_(session),
        timeline_(std::make_shared<common::Timeline>()),
        failure_(std::make_shared<common::Failure>()) {}

  // Handles a serialised RunResponse.
  void Receive(absl::string_view message);
  // Handles the end of the call. Unless the stream ended normally, the device is lost and outstanding work fails.
  void End(const absl::Status& status);

  // Registers the destination for the data of the next command. Data arrives in command order.
  void ExpectData(void* destination, uint64_t bytes);
  // Registers `callback`, which runs when the server reports the command `sequence` or when the call ends. Call this
  // before the command is sent. Returns false, without running `callback`, if the call has already ended.
  bool ExpectReport(uint64_t sequence, std::function<void(absl::Status)> callback);

  common::Point PointAt(uint64_t sequence);
  bool Reached(uint64_t sequence) const { return timeline_->Reached(sequence); }
  // The stream's error up to the command `sequence`. Requires that the server has reported the command.
  absl::Status ErrorUpTo(uint64_t sequence);

 private:
  struct Destination {
    void* data;
    uint64_t bytes;
  };
  struct Callback {
    uint64_t sequence;
    std::function<void(absl::Status)> run;
  };

  void HandleData(absl::string_view data);
  void HandleProgress(const proto::Progress& progress);
  // Marks all commands up to `sequence` as completed, with `status` as the stream's error.
  void Advance(uint64_t sequence, const absl::Status& status);

  Session* const session_;
  const std::shared_ptr<common::Timeline> timeline_;
  proto::RunResponse response_;  // connection's thread only; reused to avoid allocations
  uint64_t reached_ = 0;         // connection's thread only

  std::mutex mutex_;
  std::shared_ptr<common::Failure> failure_;  // guarded by mutex_, like all members below
  bool failed_ = false;                       // whether failure_ is set
  bool ended_ = false;
  std::deque<Destination> destinations_;
  std::deque<Callback> callbacks_;
};

}  // namespace hpu::remote

#endif  // HPU_PLUGIN_BACKENDS_REMOTE_STREAM_PROGRESS_H_
