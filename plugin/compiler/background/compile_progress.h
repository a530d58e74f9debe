// CompileProgress: tells people that something is being compiled.
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

// A compile that takes long gives a line now and then; where several are to be made and people look at a terminal, a
// bar takes the place of the lines. A thread writes them, which exists only while something is compiled. Nobody waits
// for it. Thread safe.
//
// A forked child must not use the process's: the thread does not exist there. It has no device to compile for.
class CompileProgress {
 public:
  struct Display {
    std::function<void(const std::string&)> line;  // writes a line
    std::function<void(const std::string&)> bar;   // writes over the line that stands there; null: no terminal
    absl::Duration first = absl::Seconds(2);       // nothing is shown before
    absl::Duration interval = absl::Seconds(10);   // between two lines of one compile
    absl::Duration redraw = absl::Seconds(1);      // of the bar
  };

  // The process's; never destroyed. Lines go to TensorFlow's log, the bar to stderr.
  static CompileProgress& Get();

  explicit CompileProgress(Display display) : display_(std::move(display)) {}
  // Waits for the thread; nothing may be compiled any more.
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
  // One compile, as long as it lives.
  class Scope {
   public:
    Scope(CompileProgress& progress, absl::string_view cluster, int64_t ops);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

    // What it does now: a literal, as "generating code".
    void Enter(absl::string_view step);

   private:
    CompileProgress& progress_;
    std::list<Running>::iterator running_;
  };

  // How many compiles wait for their turn.
  void SetWaiting(int64_t waiting) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void Show() ABSL_LOCKS_EXCLUDED(mutex_);  // the thread's
  bool IsIdle() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return running_.empty() && waiting_ == 0; }
  // Shows what is due; when to look again.
  absl::Time ShowDue(absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ShowLine(Running& running, absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ShowBar(absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ClearBar() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Display display_;
  absl::Mutex mutex_;
  absl::CondVar changed_;
  std::list<Running> running_ ABSL_GUARDED_BY(mutex_);  // oldest first
  int64_t waiting_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t done_ ABSL_GUARDED_BY(mutex_) = 0;  // since something was compiled without a pause
  bool has_bar_ ABSL_GUARDED_BY(mutex_) = false;
  bool has_thread_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_BACKGROUND_COMPILE_PROGRESS_H_
