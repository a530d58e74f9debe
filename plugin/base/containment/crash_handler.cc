#include "plugin/base/containment/crash_handler.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <string_view>

#include "absl/base/const_init.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "plugin/base/containment/fatal_messages.h"

namespace hpu::containment {
namespace {

constexpr int kSignals[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};
constexpr int kMaxSignal = 32;
constexpr int kMaxThreads = 256;
constexpr size_t kHandlerStackBytes = 64 * 1024;

// A signal handler cannot use thread_local, because a thread's first access may allocate memory. The handler therefore
// looks threads up by id.
struct Slot {
  std::atomic<pid_t> thread{0};  // 0: free
  std::atomic<WatchedThread*> watched{nullptr};
};
Slot slots[kMaxThreads];

// Handlers installed before the plugin's handlers, by signal. Written under `install_mutex`, read by the handler.
struct sigaction previous[kMaxSignal];
ABSL_CONST_INIT absl::Mutex install_mutex(absl::kConstInit);

pid_t CurrentThread() { return static_cast<pid_t>(syscall(SYS_gettid)); }

// Returns the calling thread's slot, or null if the thread is not watched.
Slot* FindSlot() {
  const pid_t self = CurrentThread();
  for (Slot& slot : slots) {
    if (slot.thread.load(std::memory_order_acquire) == self) return &slot;
  }
  return nullptr;
}

// Restores the previous handler or default action. A faulting instruction then runs again and raises the signal again.
// A signal that was sent (SIGABRT) is raised here.
void PassOn(int signal, const siginfo_t* info) {
  sigaction(signal, &previous[signal], nullptr);
  const bool sent = info->si_code <= 0 || signal == SIGABRT;
  if (sent) raise(signal);
}

void Handle(int signal, siginfo_t* info, void*) {
  Slot* const slot = FindSlot();
  if (slot == nullptr) return PassOn(signal, info);
  WatchedThread* const thread = slot->watched.load(std::memory_order_acquire);
  slot->thread.store(0, std::memory_order_release);  // from here on another thread may use the slot
  thread->signal.store(signal, std::memory_order_release);
  sem_post(&thread->ended);
  for (;;) pause();
}

// Stores the text of a failed CHECK of the calling thread, which is about to abort.
void KeepFatalMessage(std::string_view text, std::string_view file, int line) {
  Slot* const slot = FindSlot();
  if (slot == nullptr) return;
  WatchedThread* const thread = slot->watched.load(std::memory_order_acquire);
  thread->fatal_message = absl::StrCat(text, " (", file.substr(file.rfind('/') + 1), ":", line, ")");
}

}  // namespace

CrashWatch::CrashWatch(WatchedThread* thread) {
  for (int i = 0; i < kMaxThreads && slot_ < 0; ++i) {
    pid_t free = 0;
    // -1 reserves the slot; no thread has this id.
    if (slots[i].thread.compare_exchange_strong(free, -1)) slot_ = i;
  }
  if (slot_ < 0) return;
  stack_ = malloc(kHandlerStackBytes);
  stack_t alternative = {};
  alternative.ss_sp = stack_;
  alternative.ss_size = kHandlerStackBytes;
  sigaltstack(&alternative, nullptr);
  slots[slot_].watched.store(thread, std::memory_order_release);
  slots[slot_].thread.store(CurrentThread(), std::memory_order_release);
}

CrashWatch::~CrashWatch() {
  if (slot_ < 0) return;
  slots[slot_].thread.store(0, std::memory_order_release);
  stack_t none = {};
  none.ss_flags = SS_DISABLE;
  sigaltstack(&none, nullptr);
  free(stack_);
}

void InstallCrashHandlers() {
  absl::MutexLock lock(&install_mutex);
  static const bool added = (AddFatalMessageSink(KeepFatalMessage), true);
  static_cast<void>(added);
  for (const int signal : kSignals) {
    struct sigaction current = {};
    sigaction(signal, nullptr, &current);
    if ((current.sa_flags & SA_SIGINFO) != 0 && current.sa_sigaction == Handle) continue;
    previous[signal] = current;
    struct sigaction ours = {};
    ours.sa_sigaction = Handle;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigemptyset(&ours.sa_mask);
    sigaction(signal, &ours, nullptr);
  }
}

}  // namespace hpu::containment
