// InterruptibleCompiles: compiles for which kernels wait, until Ctrl-C ends the wait.
#ifndef HPU_PLUGIN_COMPILER_BACKGROUND_INTERRUPTIBLE_COMPILES_H_
#define HPU_PLUGIN_COMPILER_BACKGROUND_INTERRUPTIBLE_COMPILES_H_

#include <atomic>
#include <list>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "plugin/compiler/background/compile_queue.h"

namespace hpu {

// A compiler cannot be interrupted, but a wait for a compiler can. Therefore compiles run on separate threads, which
// continue after an interrupted wait. Thread safe.
class InterruptibleCompiles {
 public:
  // The process-wide object; never destroyed.
  static InterruptibleCompiles& Get();

  InterruptibleCompiles() = default;
  // No compile may be running.
  ~InterruptibleCompiles() = default;
  InterruptibleCompiles(const InterruptibleCompiles&) = delete;
  InterruptibleCompiles& operator=(const InterruptibleCompiles&) = delete;

  // Runs `work` on a new thread, or on the caller's if the system cannot create one, and waits for its end. Fails with
  // CANCELLED if Interrupt is called during the wait. The work's `cancelled` is then true, and the work may continue
  // until the process ends, so it must own all its state. `cluster`: for the message.
  absl::Status Run(absl::string_view cluster, CompileQueue::Work work) ABSL_LOCKS_EXCLUDED(mutex_);

  // Ends all waits of Run, and the display of their compiles' progress. Does not block.
  void Interrupt() ABSL_LOCKS_EXCLUDED(mutex_);

  // Cancels all compiles, without waiting for them. If compiles are still running at exit, the process flushes its
  // output and ends by _exit(2), because destructors of static objects would crash the compilers. Call when the process
  // is about to end.
  void Stop() ABSL_LOCKS_EXCLUDED(mutex_);

  // Number of compiles that are running, also after an interrupted wait.
  int running() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Compile {
    CompileQueue::Work work;
    std::atomic<bool> cancelled{false};
    bool interrupted = false;  // guarded by mutex_, like `ended`
    bool ended = false;
  };

  void RunWork(Compile* compile) ABSL_LOCKS_EXCLUDED(mutex_);

  mutable absl::Mutex mutex_;
  std::list<std::shared_ptr<Compile>> running_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_BACKGROUND_INTERRUPTIBLE_COMPILES_H_
