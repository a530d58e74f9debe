// ByteBudget: how many bytes of something there may be at a time.
#ifndef HPU_PLUGIN_SERVER_SERVICE_BYTE_BUDGET_H_
#define HPU_PLUGIN_SERVER_SERVICE_BYTE_BUDGET_H_

#include <atomic>
#include <cstdint>
#include <memory>

namespace hpu::serve {

// Thread safe. Its shares may outlive it.
class ByteBudget {
 public:
  // A part of the budget, which goes back to it with the last reference.
  using Share = std::shared_ptr<const void>;

  explicit ByteBudget(uint64_t most) : most_(most), taken_(std::make_shared<std::atomic<uint64_t>>(0)) {}

  // Null if there is not so much left.
  Share Take(uint64_t bytes) {
    uint64_t taken = taken_->load();
    do {
      if (bytes > most_ - taken) return nullptr;
    } while (!taken_->compare_exchange_weak(taken, taken + bytes));
    return Share(taken_.get(), [counter = taken_, bytes](const void*) { counter->fetch_sub(bytes); });
  }

  uint64_t most() const { return most_; }
  uint64_t taken() const { return taken_->load(); }

 private:
  const uint64_t most_;
  const std::shared_ptr<std::atomic<uint64_t>> taken_;  // at most most_
};

}  // namespace hpu::serve

#endif  // HPU_PLUGIN_SERVER_SERVICE_BYTE_BUDGET_H_
