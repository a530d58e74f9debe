#include "plugin/backends/remote/stream_progress.h"

#include <cstring>
#include <utility>

namespace hpu::remote {
namespace {

constexpr uint64_t kEnd = ~uint64_t{0} - 1;

absl::Status StatusOf(const proto::Status& status) {
  return absl::Status(static_cast<absl::StatusCode>(status.code()), status.message());
}

}  // namespace

void StreamProgress::Receive(absl::string_view message) {
  if (!response_.ParseFromArray(message.data(), static_cast<int>(message.size()))) {
    session_->Lose(absl::InternalError("cannot parse the server's message; use the same release on client and server"));
    return;
  }
  if (response_.has_progress()) {
    HandleProgress(response_.progress());
  } else {
    HandleData(response_.data());
  }
}

void StreamProgress::HandleData(absl::string_view data) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (destinations_.empty()) return;
  const Destination destination = destinations_.front();
  destinations_.pop_front();
  // A failed copy returns no data; the error is in the next report.
  if (data.size() == destination.bytes) std::memcpy(destination.data, data.data(), data.size());
}

void StreamProgress::HandleProgress(const proto::Progress& progress) {
  const absl::Status status = StatusOf(progress.status());
  if (absl::IsAborted(status)) session_->LoseDevice();
  if (progress.cleared()) {
    std::lock_guard<std::mutex> lock(mutex_);
    failure_ = std::make_shared<common::Failure>();
    failed_ = false;
  }
  Advance(progress.sequence(), status);
}

void StreamProgress::End(const absl::Status& status) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    ended_ = true;
    destinations_.clear();
    if (status.ok() && callbacks_.empty()) return;  // the stream was destroyed after all its work had completed
  }
  session_->Lose(status);
  Advance(kEnd, session_->liveness().Check());
}

void StreamProgress::Advance(uint64_t sequence, const absl::Status& status) {
  if (sequence <= reached_) return;
  std::deque<Callback> due;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!status.ok() && !failed_) {
      // The error applies to all commands since the last report. No event was recorded between the two reports, because
      // the server reports every Record command.
      failure_->Set(reached_ + 1, status);
      failed_ = true;
    }
    while (!callbacks_.empty() && callbacks_.front().sequence <= sequence) {
      due.push_back(std::move(callbacks_.front()));
      callbacks_.pop_front();
    }
  }
  for (const Callback& callback : due) callback.run(status);
  reached_ = sequence;
  timeline_->Complete(sequence);
}

void StreamProgress::ExpectData(void* destination, uint64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!ended_) destinations_.push_back({destination, bytes});
}

bool StreamProgress::ExpectReport(uint64_t sequence, std::function<void(absl::Status)> callback) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (ended_) return false;
  callbacks_.push_back({sequence, std::move(callback)});
  return true;
}

common::Point StreamProgress::PointAt(uint64_t sequence) {
  std::lock_guard<std::mutex> lock(mutex_);
  return common::Point{timeline_, failure_, sequence};
}

absl::Status StreamProgress::ErrorUpTo(uint64_t sequence) {
  std::lock_guard<std::mutex> lock(mutex_);
  return failed_ ? failure_->UpTo(sequence) : absl::OkStatus();
}

}  // namespace hpu::remote
