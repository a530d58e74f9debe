#include "plugin/base/interrupts/sigint.h"

#include <signal.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

#include "absl/base/const_init.h"
#include "absl/synchronization/mutex.h"

namespace hpu::interrupts {
namespace {

// State that the signal handler reads; it may neither lock nor allocate.
std::atomic<int> sigint_descriptor{-1};
std::atomic<pid_t> sigint_process{0};  // the process that owns the descriptor; a forked child must not write to it
std::atomic<const struct sigaction*> first_action{nullptr};  // the program's handler at the first installation
std::atomic<const struct sigaction*> last_action{nullptr};   // the program's handler at the latest installation
std::atomic<pid_t> handling_thread{0};

ABSL_CONST_INIT absl::Mutex sigint_mutex(absl::kConstInit);

void CallAction(const struct sigaction* action, int signal, siginfo_t* info, void* context) {
  if (action == nullptr) return;
  if ((action->sa_flags & SA_SIGINFO) != 0) {
    action->sa_sigaction(signal, info, context);
  } else if (action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN) {
    action->sa_handler(signal);
  }
}

void HandleSigint(int signal, siginfo_t* info, void* context) {
  const int error = errno;
  const pid_t thread = static_cast<pid_t>(syscall(SYS_gettid));
  if (handling_thread.load() == thread) {
    // The program's handler calls this handler, which it saved earlier. Calling the program's latest handler again
    // would recurse forever.
    CallAction(first_action.load(), signal, info, context);
    errno = error;
    return;
  }
  handling_thread.store(thread);
  if (getpid() == sigint_process.load()) {
    const uint64_t one = 1;
    // Blocks only if 2^64 - 2 signals are unread.
    static_cast<void>(!write(sigint_descriptor.load(), &one, sizeof(one)));
  }
  CallAction(last_action.load(), signal, info, context);
  handling_thread.store(0);
  errno = error;
}

bool IsSigintHandler(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == HandleSigint;
}

bool CallsHandler(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 || (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
}

bool IsSameAction(const struct sigaction& action, const struct sigaction* other) {
  // sa_handler and sa_sigaction share their memory.
  return other != nullptr && action.sa_handler == other->sa_handler && action.sa_flags == other->sa_flags;
}

}  // namespace

int SigintDescriptor() {
  {
    absl::MutexLock lock(&sigint_mutex);
    if (sigint_descriptor.load() < 0) {
      sigint_descriptor.store(eventfd(0, EFD_CLOEXEC));
      sigint_process.store(getpid());
    }
  }
  WatchSigint();
  return sigint_descriptor.load();
}

void WatchSigint() {
  if (sigint_descriptor.load() < 0 || getpid() != sigint_process.load()) return;
  struct sigaction current;
  if (sigaction(SIGINT, nullptr, &current) != 0 || IsSigintHandler(current) || !CallsHandler(current)) return;
  absl::MutexLock lock(&sigint_mutex);
  if (!IsSameAction(current, last_action.load())) {
    // Never freed, because a handler on another thread may read the action.
    last_action.store(new struct sigaction(current));
    if (first_action.load() == nullptr) first_action.store(last_action.load());
  }
  struct sigaction own = current;
  own.sa_sigaction = HandleSigint;
  own.sa_flags |= SA_SIGINFO;
  sigaction(SIGINT, &own, nullptr);
}

}  // namespace hpu::interrupts
