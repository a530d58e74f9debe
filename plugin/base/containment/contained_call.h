// RunContained: runs code that may crash on a thread of its own and returns the crash as an error.
#ifndef HPU_PLUGIN_BASE_CONTAINMENT_CONTAINED_CALL_H_
#define HPU_PLUGIN_BASE_CONTAINMENT_CONTAINED_CALL_H_

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace hpu::containment {

// Runs `work` on a new thread and blocks until it returns, throws or crashes.
//
// Returns `work`'s status; the status of an absl::BadStatusOrAccess; ResourceExhausted for std::bad_alloc, or if no
// thread can be created; Internal for any other exception, and for SIGABRT (a failed CHECK), SIGSEGV, SIGBUS, SIGFPE or
// SIGILL on that thread. A crash's status satisfies IsCrash; its message begins with `what` and names the ActivityScope
// and the failed CHECK, if any.
//
// After a crash the thread sleeps until the process ends. Its memory leaks, and its locks stay locked. So `work` must
// hold no lock and no file lock of this project. Signals on other threads reach the program's own handlers. Thread
// safe. A call takes about 60 µs.
absl::Status RunContained(absl::string_view what, absl::FunctionRef<absl::Status()> work);

// Names a part of contained work while in scope. A crash's message contains the innermost name. `name` must outlive the
// scope. Does nothing outside RunContained.
class ActivityScope {
 public:
  explicit ActivityScope(absl::string_view name);
  ~ActivityScope();
  ActivityScope(const ActivityScope&) = delete;
  ActivityScope& operator=(const ActivityScope&) = delete;

 private:
  absl::string_view outer_;
};

// Whether RunContained made `status` from a crash.
bool IsCrash(const absl::Status& status);

}  // namespace hpu::containment

#endif  // HPU_PLUGIN_BASE_CONTAINMENT_CONTAINED_CALL_H_
