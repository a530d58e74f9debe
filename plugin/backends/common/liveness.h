// Liveness: whether a device can still be used by this process.
#ifndef HPU_PLUGIN_BACKENDS_COMMON_LIVENESS_H_
#define HPU_PLUGIN_BACKENDS_COMMON_LIVENESS_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "absl/base/optimization.h"
#include "absl/status/status.h"

namespace hpu::common {

// Counts the forks between this process and the first user of the HAL; a child sees a higher number than its parent.
uint32_t ForkGeneration();

// One per device. The objects of a device ask it before anything else: in a forked child the device's threads do not
// exist, its mutexes may be held for ever and its memory is not mapped, so nothing behind this check may be touched.
// Thread safe.
class Liveness {
 public:
  Liveness();

  // True in a child that was forked after this object was made. Destructors then leave everything as it is.
  bool forked() const { return generation_ != ForkGeneration(); }
  // An error that says what to do, once the device is lost.
  absl::Status Check() const {
    if (ABSL_PREDICT_TRUE(!forked() && !lost_.load(std::memory_order_acquire))) return absl::OkStatus();
    return LostError();
  }
  // From now on Check() fails, for good: with `reason`, if the first call gives one, else with Aborted.
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
