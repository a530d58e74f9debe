// ByteBudget: limit on the number of bytes in use.
#ifndef HPU_PLUGIN_SERVER_SERVICE_BYTE_BUDGET_H_
#define HPU_PLUGIN_SERVER_SERVICE_BYTE_BUDGET_H_

#include <atomic>
#include <cstdint>
#include <memory>

namespace hpu::serve {

// Thread safe. Shares may outlive the budget.
class ByteBudget {
 public:
  // A reserved part of the budget. The last reference releases the part.
  using Share = std::shared_ptr<const void>;

  explicit ByteBudget(uint64_t max) : max_(max), reserved_(std::make_shared<std::atomic<uint64_t>>(0)) {}

  // Reserves `bytes`. Returns null if fewer bytes are left.
  Share Reserve(uint64_t bytes) {
    uint64_t reserved = reserved_->load();
    do {
      if (bytes > max_ - reserved) return nullptr;
    } while (!reserved_->compare_exchange_weak(reserved, reserved + bytes));
    return Share(reserved_.get(), [counter = reserved_, bytes](const void*) { counter->fetch_sub(bytes); });
  }

  uint64_t max() const { return max_; }
  uint64_t reserved() const { return reserved_->load(); }

 private:
  const uint64_t max_;
  const std::shared_ptr<std::atomic<uint64_t>> reserved_;  // at most max_
};

}  // namespace hpu::serve

#endif  // HPU_PLUGIN_SERVER_SERVICE_BYTE_BUDGET_H_
