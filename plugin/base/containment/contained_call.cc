#include "plugin/base/containment/contained_call.h"

#include <pthread.h>
#include <string.h>

#include <exception>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "plugin/base/containment/crash_handler.h"
#include "plugin/base/status_payloads.h"
#include "tensorflow/core/platform/logging.h"

namespace hpu::containment {
namespace {

// XLA's passes recurse over operands, so deep graphs need more than a thread's usual 8 MiB. Untouched pages cost
// nothing.
constexpr size_t kStackBytes = size_t{64} << 20;

// Shared by caller and thread. The thread may never end, so neither side can free the object alone.
struct Call {
  Call(absl::string_view what, absl::FunctionRef<absl::Status()> work) : what(what), work(work) {
    sem_init(&thread.ended, 0, 0);
  }
  ~Call() { sem_destroy(&thread.ended); }

  const std::string what;
  absl::FunctionRef<absl::Status()> work;  // the caller's, valid until the caller is woken
  WatchedThread thread;
  absl::string_view activity;  // written by the thread
  absl::Status status;
};

thread_local Call* current_call = nullptr;

absl::Status RunAndCatch(const Call& call) {
  try {
    return call.work();
  } catch (const absl::BadStatusOrAccess& error) {
    return error.status();
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError(
        absl::StrCat(call.what, ": out of host memory; free host memory or use fewer threads"));
  } catch (const std::exception& error) {
    return absl::InternalError(absl::StrCat(call.what, ": ", error.what()));
  }
}

void* RunThread(void* argument) {
  const std::unique_ptr<std::shared_ptr<Call>> call(static_cast<std::shared_ptr<Call>*>(argument));
  {
    const CrashWatch watch(&(*call)->thread);
    current_call = call->get();
    (*call)->status = RunAndCatch(**call);
  }
  sem_post(&(*call)->thread.ended);
  return nullptr;
}

// Returns 0, or an errno value if the system cannot create a thread.
int StartThread(const std::shared_ptr<Call>& call, pthread_t* thread) {
  pthread_attr_t attributes;
  if (const int error = pthread_attr_init(&attributes); error != 0) return error;
  pthread_attr_setstacksize(&attributes, kStackBytes);
  auto argument = std::make_unique<std::shared_ptr<Call>>(call);
  const int error = pthread_create(thread, &attributes, RunThread, argument.get());
  pthread_attr_destroy(&attributes);
  if (error == 0) argument.release();
  return error;
}

void Wait(sem_t* semaphore) {
  while (sem_wait(semaphore) != 0) {  // interrupted by a signal
  }
}

absl::Status CrashStatus(const Call& call, int signal) {
  std::string cause = call.thread.fatal_message;
  if (cause.empty()) {
    cause = absl::StrCat("signal ", signal, " (", strsignal(signal), "); see standard error for details");
  }
  const std::string what = call.activity.empty() ? call.what : absl::StrCat(call.what, " at ", call.activity);
  LOG(ERROR) << what << ": crashed; the thread was stopped: " << cause;
  return With(absl::InternalError(absl::StrCat(what, ": ", cause)), Payload::kCrash);
}

}  // namespace

ActivityScope::ActivityScope(absl::string_view name) {
  if (current_call != nullptr) outer_ = std::exchange(current_call->activity, name);
}

ActivityScope::~ActivityScope() {
  if (current_call != nullptr) current_call->activity = outer_;
}

absl::Status RunContained(absl::string_view what, absl::FunctionRef<absl::Status()> work) {
  InstallCrashHandlers();
  auto call = std::make_shared<Call>(what, work);
  pthread_t thread;
  if (const int error = StartThread(call, &thread); error != 0) {
    return absl::ResourceExhaustedError(
        absl::StrCat(what, ": cannot create a thread: ", strerror(error), "; raise ulimit -u or ulimit -v"));
  }
  Wait(&call->thread.ended);
  if (const int signal = call->thread.signal.load(std::memory_order_acquire)) {
    pthread_detach(thread);
    return CrashStatus(*call, signal);
  }
  pthread_join(thread, nullptr);
  return std::move(call->status);
}

bool IsCrash(const absl::Status& status) { return Has(status, Payload::kCrash); }

}  // namespace hpu::containment
