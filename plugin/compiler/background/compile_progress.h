// CompileProgress: shows compiles that take long, on a terminal or in a log.
#ifndef HPU_PLUGIN_COMPILER_BACKGROUND_COMPILE_PROGRESS_H_
#define HPU_PLUGIN_COMPILER_BACKGROUND_COMPILE_PROGRESS_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace hpu {

// Shows compiles that take longer than Display::first. On a terminal, one line shows the oldest compile and the number
// of finished compiles; the line is redrawn, and removed at the end. Elsewhere, each compile gets a line when it is
// first shown, at each interval, and at its end.
// A thread writes this output; the thread exists only while compiles run or are scheduled. Thread safe.
//
// A forked child must not use the process-wide object, because the child has no such thread.
class CompileProgress {
 public:
  struct Display {
    std::function<void(const std::string&)> line;    // writes one line
    std::function<void(const std::string&)> redraw;  // overwrites the current line; null: no terminal
    // Time that an earlier compile of the cluster took, if known. Called on the thread, without locks.
    std::function<std::optional<absl::Duration>(const std::string& cluster)> last_time;
    // Called with the time of a successful compile that was shown. Null: not called.
    std::function<void(const std::string& cluster, absl::Duration)> ended;
    absl::Duration first = absl::Seconds(2);            // delay before the first output
    absl::Duration interval = absl::Seconds(10);        // between two lines of one compile
    absl::Duration redraw_interval = absl::Seconds(1);  // between two updates of the terminal's line
  };

  // The process-wide object; never destroyed. Writes to stderr at every log level, unless HPU_QUIET is set.
  static CompileProgress& Get();

  explicit CompileProgress(Display display) : display_(std::move(display)) {}
  // Waits for the thread to end. No compile may be running or scheduled.
  ~CompileProgress();
  CompileProgress(const CompileProgress&) = delete;
  CompileProgress& operator=(const CompileProgress&) = delete;

 private:
  struct Running {
    std::string cluster;
    int64_t ops = 0;
    const std::atomic<bool>* cancelled = nullptr;
    absl::string_view step = "compiling";
    absl::Time start;
    absl::Time next_line;
    bool hidden = false;
    bool shown = false;  // by a line, or on the terminal
    bool asked_last_time = false;
    std::optional<absl::Duration> last_time;
  };

 public:
  // Shows one compile as running during the object's lifetime.
  class Scope {
   public:
    // `cancelled`, which may be null, identifies the compile for Hide.
    Scope(CompileProgress& progress, absl::string_view cluster, int64_t ops,
          const std::atomic<bool>* cancelled = nullptr);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

    // Sets the current step, a string literal like "generating code".
    void Enter(absl::string_view step);
    // Sets the outcome, for the last line. Without a call, the outcome is "ended".
    void SetOutcome(const absl::Status& status);

   private:
    CompileProgress& progress_;
    std::list<Running>::iterator running_;
    absl::string_view outcome_ = "ended";
  };

  // Sets the number of scheduled compiles that have not begun.
  void SetWaiting(int64_t waiting) ABSL_LOCKS_EXCLUDED(mutex_);

  // Stops showing the compile of a Scope with this `cancelled`. When Hide returns, the terminal does not show the
  // compile.
  void Hide(const std::atomic<bool>* cancelled) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void Show() ABSL_LOCKS_EXCLUDED(mutex_);  // body of the thread
  bool IsIdle() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return running_.empty() && waiting_ == 0; }
  // Shows all output that is due. Returns the time of the next output.
  absl::Time ShowDue(absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Time RedrawDue(absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Calls Display::last_time, without the lock, for the first due compile that has not been looked up. Returns false if
  // there is no such compile.
  bool AskLastTime(absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // "cluster (12 ops): generating code, 12 s (35 s last time)".
  static std::string Describe(const Running& running, absl::Time now);
  void ShowEnd(const Running& running, absl::string_view outcome) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ClearTerminal() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Display display_;
  absl::Mutex mutex_;
  absl::CondVar changed_;
  std::list<Running> running_ ABSL_GUARDED_BY(mutex_);  // oldest first
  int64_t waiting_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t done_ ABSL_GUARDED_BY(mutex_) = 0;  // compiles that ended since the thread started, without hidden compiles
  bool is_drawn_ ABSL_GUARDED_BY(mutex_) = false;
  bool has_thread_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_BACKGROUND_COMPILE_PROGRESS_H_
