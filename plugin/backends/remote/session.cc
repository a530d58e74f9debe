#include "plugin/backends/remote/session.h"

#include <unistd.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "plugin/backends/common/signal_mask.h"
#include "plugin/base/files/file_lock.h"
#include "plugin/base/status_macros.h"
#include "plugin/base/status_payloads.h"

namespace hpu::remote {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint32_t kFirstVersion = 1;
constexpr uint32_t kLastVersion = 1;
// Includes the time that the server waits for another session to release a module.
constexpr auto kSessionTimeout = absl::Seconds(10);
// Number of pending released handles that triggers a message. Keepalives send the remaining handles.
constexpr int kMaxPending = 64;

}  // namespace

absl::StatusOr<std::unique_ptr<Session>> Session::Acquire(std::unique_ptr<Connection> connection,
                                                          proto::Acquire request) {
  std::unique_ptr<Session> session(new Session(std::move(connection)));
  HPU_RETURN_IF_ERROR(session->Start(std::move(request)));
  return session;
}

absl::Status Session::Start(proto::Acquire request) {
  request.mutable_versions()->set_first(kFirstVersion);
  request.mutable_versions()->set_last(kLastVersion);
  request.mutable_holder()->set_pid(static_cast<uint32_t>(getpid()));
  request.mutable_holder()->set_command(files::OwnCommand());
  hold_ = std::make_unique<Call>(
      *connection_, "Hold", [this](absl::string_view message) { Receive(message); },
      [this](const absl::Status& status) { Done(status); });
  proto::HoldRequest message;
  *message.mutable_acquire() = std::move(request);
  hold_->Write(message);
  if (!answered_.WaitForNotificationWithTimeout(kSessionTimeout)) {
    connection_->Break();
    return absl::UnavailableError(absl::StrCat("the device server at ", connection_->spec(),
                                               " accepted the connection but has not answered for ",
                                               absl::FormatDuration(kSessionTimeout), "; restart it (hpu serve)"));
  }
  HPU_RETURN_IF_ERROR(answer_);
  const common::ScopedSignalMask mask;
  thread_ = std::thread([this] { KeepAlive(); });
  pthread_setname_np(thread_.native_handle(), "hpu_session");
  return absl::OkStatus();
}

Session::~Session() {
  if (thread_.joinable()) {
    hold_->WritesDone();
    static_cast<void>(hold_->Wait());  // returns when the module is free, or when KeepAlive disconnects a dead server
    {
      std::lock_guard<std::mutex> lock(mutex_);
      stop_ = true;
    }
    stop_changed_.notify_all();
    thread_.join();
  }
  hold_.reset();
}

void Session::Receive(absl::string_view message) {
  unanswered_ = false;
  if (answered_.HasBeenNotified()) return;
  proto::HoldResponse response;
  if (!response.ParseFromArray(message.data(), static_cast<int>(message.size())) || !response.has_acquired()) {
    answer_ = absl::InternalError(absl::StrCat(connection_->spec(),
                                               " sent an invalid answer: it is not a device server, or it has another "
                                               "protocol version; correct HPU_BACKEND or "
                                               "install the same release on client and server"));
  } else {
    acquired_ = std::move(*response.mutable_acquired());
  }
  answered_.Notify();
}

void Session::Done(const absl::Status& status) {
  if (answered_.HasBeenNotified()) {
    if (!status.ok()) Lose(status);
    return;
  }
  if (status.ok()) {
    answer_ = absl::InternalError(absl::StrCat("the device server at ", connection_->spec(),
                                               " ended the session before it assigned a module; see the server's log"));
  } else {
    answer_ = Reworded(status, absl::StrCat("device server at ", connection_->spec(), ": ", status.message()));
  }
  answered_.Notify();
}

void Session::Lose(const absl::Status& error) {
  const bool gone = absl::IsUnavailable(error) || absl::IsCancelled(error);
  liveness_.MarkLost(absl::Status(
      gone ? absl::StatusCode::kUnavailable : error.code(),
      absl::StrCat("the HPU is lost: the device server at ", connection_->spec(),
                   gone ? " is unreachable or ended the session (" : " ended the session (", error.message(),
                   "); check that it runs (hpu serve), and restart this process to acquire the HPU again")));
}

void Session::Interrupt() {
  liveness_.MarkLost(
      absl::CancelledError("the HPU is lost: the program was interrupted (Ctrl-C) while it waited for the device; "
                           "restart this process to acquire the HPU again"));
  connection_->Break();
}

void Session::KeepAlive() {
  const auto lease = std::chrono::milliseconds(acquired_.lease_ms());
  Clock::time_point asked;
  std::unique_lock<std::mutex> lock(mutex_);
  while (!stop_changed_.wait_for(lock, lease / 4, [this] { return stop_; })) {
    if (!unanswered_.exchange(true)) {
      asked = Clock::now();
      Flush();
    } else if (Clock::now() - asked > lease) {
      lock.unlock();
      Lose(absl::UnavailableError(absl::StrCat("no answer for ", acquired_.lease_ms(), " ms")));
      connection_->Break();
      return;
    }
  }
}

void Session::ReleaseEvent(uint64_t handle, uint64_t uses) {
  std::lock_guard<std::mutex> lock(mutex_);
  AddForget(pending_.add_forget_marks(), handle, uses);
}

void Session::ReleaseRecipe(uint64_t handle, uint64_t uses) {
  std::lock_guard<std::mutex> lock(mutex_);
  AddForget(pending_.add_forget_recipes(), handle, uses);
}

void Session::AddForget(proto::Forget* forget, uint64_t handle, uint64_t uses) {
  forget->set_handle(handle);
  forget->set_uses(uses);
  if (pending_.forget_marks_size() + pending_.forget_recipes_size() < kMaxPending) return;
  Flush();
}

void Session::Flush() {
  hold_->Write(pending_);
  pending_.Clear();
}

}  // namespace hpu::remote
