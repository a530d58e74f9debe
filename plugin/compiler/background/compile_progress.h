// CompileProgress: progress lines and a progress bar for compilation.
#ifndef HPU_PLUGIN_COMPILER_BACKGROUND_COMPILE_PROGRESS_H_
#define HPU_PLUGIN_COMPILER_BACKGROUND_COMPILE_PROGRESS_H_

#include <cstdint>
#include <functional>
#include <list>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace hpu {

// Logs progress lines during a long compile. For several compiles on a terminal, a bar replaces the lines. A thread
// writes this output; the thread exists only while compiles run or are scheduled. Thread safe.
//
// A forked child must not use the process-wide object, because the child has no such thread.
class CompileProgress {
 public:
  struct Display {
    std::function<void(const std::string&)> line;  // writes one progress line
    std::function<void(const std::string&)> bar;   // overwrites the current line; null: no terminal
    absl::Duration first = absl::Seconds(2);       // delay before the first output
    absl::Duration interval = absl::Seconds(10);   // between two lines of one compile
    absl::Duration redraw = absl::Seconds(1);      // between two updates of the bar
  };

  // The process-wide object; never destroyed. Lines go to TensorFlow's log, the bar to stderr.
  static CompileProgress& Get();

  explicit CompileProgress(Display display) : display_(std::move(display)) {}
  // Waits for the thread to end. No compile may be running or scheduled.
  ~CompileProgress();
  CompileProgress(const CompileProgress&) = delete;
  CompileProgress& operator=(const CompileProgress&) = delete;

 private:
  struct Running {
    std::string cluster;
    int64_t ops;
    absl::string_view step;
    absl::Time start;
    absl::Time next_line;
  };

 public:
  // Shows one compile as running during the object's lifetime.
  class Scope {
   public:
    Scope(CompileProgress& progress, absl::string_view cluster, int64_t ops);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

    // Sets the current step, a string literal like "generating code".
    void Enter(absl::string_view step);

   private:
    CompileProgress& progress_;
    std::list<Running>::iterator running_;
  };

  // Sets the number of scheduled compiles that have not begun.
  void SetWaiting(int64_t waiting) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void Show() ABSL_LOCKS_EXCLUDED(mutex_);  // body of the thread
  bool IsIdle() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return running_.empty() && waiting_ == 0; }
  // Shows all output that is due. Returns the time of the next output.
  absl::Time ShowDue(absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ShowLine(Running& running, absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ShowBar(absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ClearBar() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Display display_;
  absl::Mutex mutex_;
  absl::CondVar changed_;
  std::list<Running> running_ ABSL_GUARDED_BY(mutex_);  // oldest first
  int64_t waiting_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t done_ ABSL_GUARDED_BY(mutex_) = 0;  // compiles that ended since the last idle time
  bool has_bar_ ABSL_GUARDED_BY(mutex_) = false;
  bool has_thread_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_BACKGROUND_COMPILE_PROGRESS_H_
