// StreamProgress: what the server has said of a stream's work.
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

// Thread safe. Receive and End are for the connection's thread.
class StreamProgress {
 public:
  explicit StreamProgress(Session* session)
      : session_(session),
        timeline_(std::make_shared<common::Timeline>()),
        failure_(std::make_shared<common::Failure>()) {}

  // Takes a RunResponse.
  void Receive(absl::string_view message);
  // The call has ended: whatever is still waited for has failed.
  void End(const absl::Status& status);

  // The command `sequence`, which is about to be sent, gives data to be written here. Those of several commands come in
  // the order of their numbers.
  void ExpectData(void* destination, uint64_t bytes);
  // Runs `callback` when the server has reported the command `sequence`, which is about to be sent. False if the call
  // has ended: it will not run.
  bool ExpectReport(uint64_t sequence, std::function<void(absl::Status)> callback);

  common::Point PointAt(uint64_t sequence);
  bool Reached(uint64_t sequence) const { return timeline_->Reached(sequence); }
  // The error of the stream up to a command that has been reported.
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

  void TakeData(absl::string_view data);
  void TakeReport(const proto::Progress& progress);
  // All commands up to `sequence` have ended, with this error of the stream.
  void Advance(uint64_t sequence, const absl::Status& status);

  Session* const session_;
  const std::shared_ptr<common::Timeline> timeline_;
  proto::RunResponse response_;  // of the connection's thread; kept for its storage
  uint64_t reached_ = 0;         // of the connection's thread

  std::mutex mutex_;
  std::shared_ptr<common::Failure> failure_;  // guarded by mutex_, as all below
  bool failed_ = false;                       // whether failure_ is set
  bool ended_ = false;
  std::deque<Destination> destinations_;
  std::deque<Callback> callbacks_;
};

}  // namespace hpu::remote

#endif  // HPU_PLUGIN_BACKENDS_REMOTE_STREAM_PROGRESS_H_
