#include "plugin/backends/emulator/device/busy_time.h"

#include <gtest/gtest.h>

#include <optional>
#include <thread>

namespace hpu::emulator {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

TEST(BusyTimeTest, RunningWorkCountsBeforeItEnds) {
  BusyTime time;
  EXPECT_EQ(time.total(), nanoseconds(0));
  std::optional<BusyTime::Scope> scope(&time);
  std::this_thread::sleep_for(milliseconds(2));
  EXPECT_GE(time.total(), milliseconds(2));
  scope.reset();
  const nanoseconds total = time.total();
  std::this_thread::sleep_for(milliseconds(2));
  EXPECT_EQ(time.total(), total);
}

TEST(BusyTimeTest, ConcurrentWorkCountsOnce) {
  BusyTime time;
  const auto begin = std::chrono::steady_clock::now();
  {
    const BusyTime::Scope one(&time), other(&time);
    std::this_thread::sleep_for(milliseconds(2));
  }
  EXPECT_GE(time.total(), milliseconds(2));
  EXPECT_LE(time.total(), std::chrono::steady_clock::now() - begin);
}

}  // namespace
}  // namespace hpu::emulator
