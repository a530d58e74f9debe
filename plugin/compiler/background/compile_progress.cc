#include "plugin/compiler/background/compile_progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tsl/platform/logging.h"

namespace hpu {
namespace {

constexpr int kBarWidth = 20;

void WriteLine(const std::string& line) { LOG(INFO) << line; }

void WriteBar(const std::string& bar) {
  std::fputs(absl::StrCat("\r", bar, "\x1b[K").c_str(), stderr);
  std::fflush(stderr);
}

CompileProgress::Display ProcessDisplay() {
  CompileProgress::Display display;
  display.line = WriteLine;
  if (isatty(STDERR_FILENO) && tsl::internal::MinLogLevelFromEnv() <= tsl::INFO) display.bar = WriteBar;
  return display;
}

std::string Seconds(absl::Duration duration) { return absl::StrCat(absl::ToInt64Seconds(duration), " s"); }

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

CompileProgress::Scope::Scope(CompileProgress& progress, absl::string_view cluster, int64_t ops) : progress_(progress) {
  const absl::Time now = absl::Now();
  absl::MutexLock lock(&progress_.mutex_);
  running_ = progress_.running_.insert(progress_.running_.end(),
                                       {std::string(cluster), ops, "compiling", now, now + progress_.display_.first});
  if (!std::exchange(progress_.has_thread_, true)) std::thread([&progress] { progress.Show(); }).detach();
}

CompileProgress::Scope::~Scope() {
  absl::MutexLock lock(&progress_.mutex_);
  progress_.running_.erase(running_);
  ++progress_.done_;
  if (progress_.IsIdle()) progress_.changed_.Signal();
}

void CompileProgress::Scope::Enter(absl::string_view step) {
  absl::MutexLock lock(&progress_.mutex_);
  running_->step = step;
}

void CompileProgress::SetWaiting(int64_t waiting) {
  absl::MutexLock lock(&mutex_);
  waiting_ = waiting;
  if (IsIdle()) changed_.Signal();
}

void CompileProgress::Show() {
  absl::MutexLock lock(&mutex_);
  while (!IsIdle()) changed_.WaitWithDeadline(&mutex_, ShowDue(absl::Now()));
  ClearBar();
  done_ = 0;
  has_thread_ = false;
}

absl::Time CompileProgress::ShowDue(absl::Time now) {
  if (running_.empty()) return now + display_.first;
  if (display_.bar != nullptr && waiting_ + static_cast<int64_t>(running_.size()) > 1) {
    const absl::Time first = running_.front().start + display_.first;
    if (now < first) return first;
    ShowBar(now);
    return now + display_.redraw;
  }
  ClearBar();
  absl::Time next = absl::InfiniteFuture();
  for (Running& running : running_) {
    if (running.next_line <= now) ShowLine(running, now);
    next = std::min(next, running.next_line);
  }
  return std::min(next, now + display_.first);  // a new compile may begin before `next`
}

void CompileProgress::ShowLine(Running& running, absl::Time now) {
  display_.line(absl::StrCat(running.cluster, " (", running.ops, running.ops == 1 ? " op" : " ops", "): ", running.step,
                             ", ", Seconds(now - running.start), " so far"));
  running.next_line = now + display_.interval;
}

void CompileProgress::ShowBar(absl::Time now) {
  const int64_t all = done_ + static_cast<int64_t>(running_.size()) + waiting_;
  const int full = static_cast<int>(kBarWidth * done_ / all);
  const Running& oldest = running_.front();
  display_.bar(absl::StrCat("[", std::string(full, '#'), std::string(kBarWidth - full, '.'), "] ", done_, " of ", all,
                            " recipes; ", oldest.cluster, " (", oldest.ops, " ops): ", oldest.step, ", ",
                            Seconds(now - oldest.start)));
  has_bar_ = true;
}

void CompileProgress::ClearBar() {
  if (std::exchange(has_bar_, false)) display_.bar("");
}

}  // namespace hpu
