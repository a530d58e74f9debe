// ScopedSignalMask: blocks all signals in the current thread and in the threads that it starts.
#ifndef HPU_PLUGIN_BACKENDS_COMMON_SIGNAL_MASK_H_
#define HPU_PLUGIN_BACKENDS_COMMON_SIGNAL_MASK_H_

#include <pthread.h>
#include <signal.h>

namespace hpu::common {

// Signals (Ctrl-C, timers, profilers) belong to the host program's threads. A new thread inherits this mask.
class ScopedSignalMask {
 public:
  ScopedSignalMask() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &previous_);
  }
  ~ScopedSignalMask() { pthread_sigmask(SIG_SETMASK, &previous_, nullptr); }

  ScopedSignalMask(const ScopedSignalMask&) = delete;
  ScopedSignalMask& operator=(const ScopedSignalMask&) = delete;

 private:
  sigset_t previous_;
};

}  // namespace hpu::common

#endif  // HPU_PLUGIN_BACKENDS_COMMON_SIGNAL_MASK_H_
