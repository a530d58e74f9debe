// BusyTime: total time with at least one running activity.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_DEVICE_BUSY_TIME_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_DEVICE_BUSY_TIME_H_

#include <chrono>
#include <mutex>

namespace hpu::emulator {

// The total includes running activities, so that a long activity does not look like idle time. Thread safe.
class BusyTime {
 public:
  // An activity that lasts as long as this object.
  class Scope {
   public:
    explicit Scope(BusyTime* time) : time_(time) { time_->Count(1); }
    ~Scope() { time_->Count(-1); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    BusyTime* const time_;
  };

  std::chrono::nanoseconds total() {
    std::lock_guard<std::mutex> lock(mutex_);
    Advance();
    return total_;
  }

 private:
  using Clock = std::chrono::steady_clock;

  void Count(int change) {
    std::lock_guard<std::mutex> lock(mutex_);
    Advance();
    running_ += change;
  }
  void Advance() {
    const Clock::time_point now = Clock::now();
    if (running_ > 0) total_ += now - counted_until_;
    counted_until_ = now;
  }

  std::mutex mutex_;
  int running_ = 0;                  // guarded by mutex_, like all members below
  Clock::time_point counted_until_;  // total_ includes all busy time before this
  std::chrono::nanoseconds total_{0};
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_DEVICE_BUSY_TIME_H_
