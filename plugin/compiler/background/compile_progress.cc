#include "plugin/compiler/background/compile_progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <thread>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "plugin/base/flags/flags.h"
#include "plugin/compiler/background/compile_times.h"

namespace hpu {
namespace {

constexpr int kBarWidth = 20;
constexpr char kPrefix[] = "HPU: compiling ";

void WriteLine(const std::string& line) {
  if (flags::Quiet()) return;
  std::fputs(absl::StrCat(line, "\n").c_str(), stderr);
}

// Shortens the line in its middle, because a line that wraps cannot be redrawn. The end of the line is the time.
std::string FitToTerminal(const std::string& line) {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col <= 2 || line.size() < size.ws_col) return line;
  const size_t columns = size.ws_col - 2;  // one for the ellipsis; the cursor stays in the line
  const size_t end = columns / 2;
  return absl::StrCat(line.substr(0, columns - end), "…", line.substr(line.size() - end));
}

void Redraw(const std::string& line) {
  if (flags::Quiet()) return;
  std::fputs(absl::StrCat("\r", FitToTerminal(line), "\x1b[K").c_str(), stderr);
  std::fflush(stderr);
}

CompileProgress::Display ProcessDisplay() {
  CompileProgress::Display display;
  display.line = WriteLine;
  if (isatty(STDERR_FILENO)) display.redraw = Redraw;
  display.last_time = [](const std::string& cluster) { return CompileTimes::Get().Find(cluster); };
  display.ended = [](const std::string& cluster, absl::Duration time) { CompileTimes::Get().Set(cluster, time); };
  return display;
}

std::string Seconds(absl::Duration duration) { return absl::StrCat(absl::ToInt64Seconds(duration), " s"); }

std::string NameWithOps(absl::string_view cluster, int64_t ops) {
  return absl::StrCat(cluster, " (", ops, ops == 1 ? " op" : " ops", ")");
}

}  // namespace

CompileProgress& CompileProgress::Get() {
  static auto* progress = new CompileProgress(ProcessDisplay());
  return *progress;
}

CompileProgress::~CompileProgress() {
  absl::MutexLock lock(&mutex_);
  auto ended = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return !has_thread_; };
  mutex_.Await(absl::Condition(&ended));
}

CompileProgress::Scope::Scope(CompileProgress& progress, absl::string_view cluster, int64_t ops,
                              const std::atomic<bool>* cancelled)
    : progress_(progress) {
  const absl::Time now = absl::Now();
  absl::MutexLock lock(&progress_.mutex_);
  running_ = progress_.running_.emplace(progress_.running_.end());
  running_->cluster = std::string(cluster);
  running_->ops = ops;
  running_->cancelled = cancelled;
  running_->start = now;
  running_->next_line = now + progress_.display_.first;
  if (!std::exchange(progress_.has_thread_, true)) std::thread([&progress] { progress.Show(); }).detach();
}

CompileProgress::Scope::~Scope() {
  absl::MutexLock lock(&progress_.mutex_);
  progress_.ShowEnd(*running_, outcome_);
  if (!running_->hidden) ++progress_.done_;
  progress_.running_.erase(running_);
  if (progress_.IsIdle()) progress_.changed_.Signal();
}

void CompileProgress::Scope::Enter(absl::string_view step) {
  absl::MutexLock lock(&progress_.mutex_);
  running_->step = step;
}

void CompileProgress::Scope::SetOutcome(const absl::Status& status) {
  outcome_ = status.ok() ? "done" : absl::IsCancelled(status) ? "cancelled" : "failed";
  if (!status.ok() || progress_.display_.ended == nullptr) return;
  std::optional<absl::Duration> time;
  {
    absl::MutexLock lock(&progress_.mutex_);
    if (running_->shown) time = absl::Now() - running_->start;
  }
  if (time.has_value()) progress_.display_.ended(running_->cluster, *time);
}

void CompileProgress::SetWaiting(int64_t waiting) {
  absl::MutexLock lock(&mutex_);
  waiting_ = waiting;
  if (IsIdle()) changed_.Signal();
}

void CompileProgress::Hide(const std::atomic<bool>* cancelled) {
  absl::MutexLock lock(&mutex_);
  for (Running& running : running_) {
    if (running.cancelled != cancelled || running.hidden) continue;
    ShowEnd(running, "interrupted");
    running.hidden = true;
    ClearTerminal();
  }
}

void CompileProgress::Show() {
  absl::MutexLock lock(&mutex_);
  while (!IsIdle()) {
    const absl::Time now = absl::Now();
    if (!AskLastTime(now)) changed_.WaitWithDeadline(&mutex_, ShowDue(now));
  }
  ClearTerminal();
  done_ = 0;
  has_thread_ = false;
}

bool CompileProgress::AskLastTime(absl::Time now) {
  if (display_.last_time == nullptr) return false;
  const auto is_due = [&](const Running& running) {
    return !running.hidden && !running.asked_last_time && running.start + display_.first <= now;
  };
  const auto found = absl::c_find_if(running_, is_due);
  if (found == running_.end()) return false;
  found->asked_last_time = true;
  const std::string cluster = found->cluster;
  mutex_.Unlock();
  const std::optional<absl::Duration> time = display_.last_time(cluster);
  mutex_.Lock();
  for (Running& running : running_) {  // the compile may have ended
    if (running.cluster == cluster) running.last_time = time;
  }
  return true;
}

absl::Time CompileProgress::ShowDue(absl::Time now) {
  if (display_.redraw != nullptr) return RedrawDue(now);
  absl::Time next = now + display_.first;  // a new compile may begin
  for (Running& running : running_) {
    if (running.hidden) continue;
    if (running.next_line <= now) {
      display_.line(absl::StrCat(kPrefix, Describe(running, now)));
      running.shown = true;
      running.next_line = now + display_.interval;
    }
    next = std::min(next, running.next_line);
  }
  return next;
}

absl::Time CompileProgress::RedrawDue(absl::Time now) {
  const auto oldest = absl::c_find_if(running_, [](const Running& running) { return !running.hidden; });
  if (oldest == running_.end()) {
    ClearTerminal();
    return now + display_.first;
  }
  if (!is_drawn_ && now < oldest->start + display_.first) return oldest->start + display_.first;
  for (Running& running : running_) running.shown = running.shown || running.start + display_.first <= now;
  std::string line = kPrefix;
  const int64_t left = absl::c_count_if(running_, [](const Running& running) { return !running.hidden; }) + waiting_;
  if (left > 1 || done_ > 0) {
    const int full = static_cast<int>(kBarWidth * done_ / (done_ + left));
    absl::StrAppend(&line, "[", std::string(full, '#'), std::string(kBarWidth - full, '.'), "] ", done_, " of ",
                    done_ + left, " recipes; ");
  }
  display_.redraw(absl::StrCat(line, Describe(*oldest, now)));
  is_drawn_ = true;
  return now + display_.redraw_interval;
}

std::string CompileProgress::Describe(const Running& running, absl::Time now) {
  return absl::StrCat(
      NameWithOps(running.cluster, running.ops), ": ", running.step, ", ", Seconds(now - running.start),
      running.last_time.has_value() ? absl::StrCat(" (", Seconds(*running.last_time), " last time)") : std::string());
}

void CompileProgress::ShowEnd(const Running& running, absl::string_view outcome) {
  if (!running.shown || running.hidden || display_.redraw != nullptr) return;
  display_.line(absl::StrCat(kPrefix, NameWithOps(running.cluster, running.ops), ": ", outcome, " after ",
                             Seconds(absl::Now() - running.start)));
}

void CompileProgress::ClearTerminal() {
  if (std::exchange(is_drawn_, false)) display_.redraw("");
}

}  // namespace hpu
