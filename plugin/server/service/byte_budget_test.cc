#include "plugin/server/service/byte_budget.h"

#include <gtest/gtest.h>

#include <optional>
#include <thread>
#include <vector>

namespace hpu::serve {
namespace {

TEST(ByteBudgetTest, RefusesMoreThanTheBudget) {
  ByteBudget budget(10);
  ByteBudget::Share first = budget.Reserve(6);
  EXPECT_NE(nullptr, first);
  EXPECT_EQ(nullptr, budget.Reserve(5));
  EXPECT_EQ(nullptr, budget.Reserve(~uint64_t{0}));
  const ByteBudget::Share second = budget.Reserve(4);
  EXPECT_NE(nullptr, second);
  EXPECT_EQ(10u, budget.reserved());
  first.reset();
  EXPECT_EQ(4u, budget.reserved());
  EXPECT_NE(nullptr, budget.Reserve(6));
}

TEST(ByteBudgetTest, SharesMayOutliveTheBudget) {
  std::optional<ByteBudget> budget(10);
  ByteBudget::Share share = budget->Reserve(1);
  budget.reset();
  share.reset();
}

TEST(ByteBudgetTest, ConcurrentReservationsStayWithinTheBudget) {
  ByteBudget budget(3);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&budget] {
      for (int j = 0; j < 1000; ++j) {
        const ByteBudget::Share share = budget.Reserve(1);
        EXPECT_LE(budget.reserved(), 3u);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(0u, budget.reserved());
}

}  // namespace
}  // namespace hpu::serve
