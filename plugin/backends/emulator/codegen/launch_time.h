// LaunchTime: estimate of the time that a recipe's next launch takes.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_LAUNCH_TIME_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_LAUNCH_TIME_H_

#include <atomic>
#include <chrono>
#include <cstdint>

namespace hpu::emulator {

// A shorter launch lowers the estimate at once. A longer launch raises it by an eighth of the difference, so one launch
// that the system interrupts has little effect. Thread safe; of concurrent updates, one may be lost.
class LaunchTime {
 public:
  void Add(std::chrono::nanoseconds measured) {
    const int64_t time = measured.count();
    const int64_t before = estimate_.load(std::memory_order_relaxed);
    estimate_.store(before == kUnknown || time < before ? time : before + (time - before) / 8,
                    std::memory_order_relaxed);
  }
  // Whether the estimate is at most `max`. False before the first launch.
  bool IsAtMost(std::chrono::nanoseconds max) const {
    const int64_t estimate = estimate_.load(std::memory_order_relaxed);
    return estimate != kUnknown && estimate <= max.count();
  }

 private:
  static constexpr int64_t kUnknown = -1;

  std::atomic<int64_t> estimate_{kUnknown};  // ns
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_LAUNCH_TIME_H_
