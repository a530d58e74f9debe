// Signal handlers that stop a crashing thread instead of the process, for threads that ask for it.
#ifndef HPU_PLUGIN_BASE_CONTAINMENT_CRASH_HANDLER_H_
#define HPU_PLUGIN_BASE_CONTAINMENT_CRASH_HANDLER_H_

#include <semaphore.h>

#include <atomic>
#include <string>

namespace hpu::containment {

// One watched thread, as its signal handler sees it. The object outlives the thread's crash.
struct WatchedThread {
  sem_t ended;                 // posted when the thread crashes; RunContained posts it for every other end
  std::atomic<int> signal{0};  // the signal that stopped the thread
  std::string fatal_message;   // of the failed CHECK, written by the thread before its SIGABRT
};

// Watches the calling thread while in scope. A crash within posts `ended` and never returns. At most 256 threads are
// watched at a time; further ones crash as any other thread.
class CrashWatch {
 public:
  explicit CrashWatch(WatchedThread* thread);
  ~CrashWatch();
  CrashWatch(const CrashWatch&) = delete;
  CrashWatch& operator=(const CrashWatch&) = delete;

 private:
  int slot_ = -1;
  void* stack_ = nullptr;  // the handler's own: a stack overflow leaves no other
};

// Installs the handlers. A handler that the program installs later replaces them until the next call.
void InstallCrashHandlers();

}  // namespace hpu::containment

#endif  // HPU_PLUGIN_BASE_CONTAINMENT_CRASH_HANDLER_H_
