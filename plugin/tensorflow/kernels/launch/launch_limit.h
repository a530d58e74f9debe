// A signal once a cluster has been launched a number of times, for commands that need only a part of a program's run.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_LAUNCH_LAUNCH_LIMIT_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_LAUNCH_LAUNCH_LIMIT_H_

#include <pthread.h>

#include <atomic>
#include <cstdint>

namespace hpu {

// Process-wide. Thread safe, except that Set() must not run beside itself.
class LaunchLimit {
 public:
  static LaunchLimit& Get();

  // Sends `signal` to the calling thread, which must outlive the limit, at the launch with number `launches` of any
  // cluster. The signal is sent once. 0 launches: no signal.
  void Set(uint64_t launches, int signal);
  // Called for each launch, with its number in its cluster, from 1.
  void Count(uint64_t launch) {
    if (launch == limit_.load(std::memory_order_acquire)) Reach(launch);
  }

 private:
  LaunchLimit() = default;
  void Reach(uint64_t launch);

  std::atomic<uint64_t> limit_{0};
  pthread_t thread_{};
  int signal_ = 0;
};

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_LAUNCH_LAUNCH_LIMIT_H_
