// AdaptiveSpin: adaptive spinning before a thread sleeps.
#ifndef HPU_PLUGIN_BACKENDS_COMMON_SPIN_H_
#define HPU_PLUGIN_BACKENDS_COMMON_SPIN_H_

#include <algorithm>
#include <atomic>
#include <chrono>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace hpu::common {

// Number of CPUs in the calling thread's affinity mask.
int AvailableCpus();

// Polls `ready()` for at most `max` without sleeping; returns whether `ready()` became true.
template <typename Ready>
bool SpinFor(std::chrono::nanoseconds max, const Ready& ready) {
  const auto end = std::chrono::steady_clock::now() + max;
  do {
    for (int i = 0; i < 16; ++i) {
      if (ready()) return true;
#if defined(__x86_64__)
      _mm_pause();
#endif
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

// Use one object per kind of wait. A wake-up through the kernel costs 5 to 50 µs. Spinning saves that cost if the wait
// is short and a CPU is idle. Otherwise spinning takes the CPU from the thread that does the work. So the spinning time
// adapts: it doubles after a success and halves after a failure, down to an occasional try. With one CPU, Await never
// spins. Thread safe.
class AdaptiveSpin {
 public:
  AdaptiveSpin() = default;
  // `max`: maximum time that one wait spins.
  explicit AdaptiveSpin(std::chrono::nanoseconds max) : max_(static_cast<int>(max.count())) {}

  // Returns whether `ready()` is true, perhaps after spinning.
  template <typename Ready>
  bool Await(const Ready& ready) {
    if (ready()) return true;
    const int budget = NextBudget();
    if (budget == 0) return false;
    const bool came = SpinFor(std::chrono::nanoseconds(budget), ready);
    budget_.store(came ? std::min(budget * 2, max_) : budget / 2, std::memory_order_relaxed);
    return came;
  }

 private:
  static constexpr int kMin = 1'000;  // ns; below it only every kRetry-th wait spins
  static constexpr int kRetry = 32;

  int NextBudget() {
    static const bool several = AvailableCpus() > 1;
    if (!several) return 0;
    const int budget = budget_.load(std::memory_order_relaxed);
    if (budget >= kMin) return budget;
    return waits_.fetch_add(1, std::memory_order_relaxed) % kRetry == 0 ? kMin : 0;
  }

  const int max_ = 20'000;  // ns
  std::atomic<int> budget_{max_ / 2};
  std::atomic<unsigned> waits_{0};
};

}  // namespace hpu::common

#endif  // HPU_PLUGIN_BACKENDS_COMMON_SPIN_H_
