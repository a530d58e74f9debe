// Liveness: state of a device in this process (usable, lost, or unusable after a fork).
#ifndef HPU_PLUGIN_BACKENDS_COMMON_LIVENESS_H_
#define HPU_PLUGIN_BACKENDS_COMMON_LIVENESS_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "absl/base/optimization.h"
#include "absl/status/status.h"

namespace hpu::common {

// Number of forks from the process that first used the HAL to this process; higher in a child than in its parent.
uint32_t ForkGeneration();

// One per device. Every object of a device calls Check() first, and does nothing else if Check() fails. In a forked
// child the device's threads do not exist, its mutexes may be locked forever and its memory is not mapped. Thread safe.
class Liveness {
 public:
  Liveness();

  // True in a child that was forked after this object was constructed. Destructors then release nothing.
  bool forked() const { return generation_ != ForkGeneration(); }
  // OK unless the device is lost or this process is a forked child.
  absl::Status Check() const {
    if (ABSL_PREDICT_TRUE(!forked() && !lost_.load(std::memory_order_acquire))) return absl::OkStatus();
    return LostError();
  }
  // Makes Check() fail with `reason`, or with Aborted if `reason` is OK. Only the first call has an effect.
  void MarkLost(absl::Status reason = absl::OkStatus());

 private:
  absl::Status LostError() const;

  const uint32_t generation_;
  std::atomic<bool> lost_{false};
  std::mutex mutex_;
  absl::Status reason_;  // written under mutex_ before lost_ is set, and never again
};

}  // namespace hpu::common

#endif  // HPU_PLUGIN_BACKENDS_COMMON_LIVENESS_H_
