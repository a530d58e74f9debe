#include "plugin/tensorflow/kernels/launch/launch_limit.h"

#include <csignal>

namespace hpu {

LaunchLimit& LaunchLimit::Get() {
  static auto* limit = new LaunchLimit;
  return *limit;
}

void LaunchLimit::Set(uint64_t launches, int signal) {
  limit_.store(0, std::memory_order_relaxed);
  thread_ = pthread_self();
  signal_ = signal;
  limit_.store(launches, std::memory_order_release);
}

void LaunchLimit::Reach(uint64_t launch) {
  if (limit_.compare_exchange_strong(launch, 0)) pthread_kill(thread_, signal_);
}

}  // namespace hpu
