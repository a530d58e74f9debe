// RunContained: crash containment. Runs code on a separate thread and returns a crash as an error.
#ifndef HPU_PLUGIN_BASE_CONTAINMENT_CONTAINED_CALL_H_
#define HPU_PLUGIN_BASE_CONTAINMENT_CONTAINED_CALL_H_

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace hpu::containment {

// Runs `work` on a new thread and blocks until `work` returns, throws or crashes.
//
// Returns the status of `work`, or:
// - the status of an absl::BadStatusOrAccess;
// - ResourceExhausted for std::bad_alloc, or if no thread can be created;
// - Internal for any other exception, and for SIGABRT (a failed CHECK), SIGSEGV, SIGBUS, SIGFPE or SIGILL on the
// thread.
//
// A crash's status satisfies IsCrash. The message begins with `what` and names the ActivityScope and the failed CHECK,
// if any.
//
// After a crash the thread sleeps until the process ends. The thread's memory leaks, and the thread's locks stay
// locked. `work` must therefore hold no lock and no file lock of this project. Signals on other threads reach the
// program's own handlers. Thread safe. A call takes about 60 µs.
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

// Whether `status` describes a crash that RunContained caught.
bool IsCrash(const absl::Status& status);

}  // namespace hpu::containment

#endif  // HPU_PLUGIN_BASE_CONTAINMENT_CONTAINED_CALL_H_
