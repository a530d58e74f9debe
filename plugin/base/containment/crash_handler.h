// Signal handlers that stop only the crashing thread instead of the process, for threads that opt in.
#ifndef HPU_PLUGIN_BASE_CONTAINMENT_CRASH_HANDLER_H_
#define HPU_PLUGIN_BASE_CONTAINMENT_CRASH_HANDLER_H_

#include <semaphore.h>

#include <atomic>
#include <string>

namespace hpu::containment {

// State of a watched thread, shared with the signal handler. The object outlives the thread's crash.
struct WatchedThread {
  sem_t ended;                 // posted when the thread crashes, or by RunContained's thread when the work ends
  std::atomic<int> signal{0};  // the signal that stopped the thread
  std::string fatal_message;   // text of the failed CHECK, written by the thread before its SIGABRT
};

// Watches the calling thread while in scope. A crash posts `ended`, and the thread never continues. At most 256 threads
// are watched at a time; crashes on further threads end the process as usual.
class CrashWatch {
 public:
  explicit CrashWatch(WatchedThread* thread);
  ~CrashWatch();
  CrashWatch(const CrashWatch&) = delete;
  CrashWatch& operator=(const CrashWatch&) = delete;

 private:
  int slot_ = -1;
  void* stack_ = nullptr;  // stack of the signal handler, usable after a stack overflow
};

// Installs the handlers. A handler that the program installs later replaces the plugin's handler until the next call.
void InstallCrashHandlers();

}  // namespace hpu::containment

#endif  // HPU_PLUGIN_BASE_CONTAINMENT_CRASH_HANDLER_H_
