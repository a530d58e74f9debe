// Tests of LaunchTime.
#include "plugin/backends/emulator/codegen/launch_time.h"

#include <gtest/gtest.h>

namespace hpu::emulator {
namespace launch_time_test {

using std::chrono::microseconds;

TEST(LaunchTimeTest, IsUnknownBeforeTheFirstLaunch) { EXPECT_FALSE(LaunchTime().IsAtMost(std::chrono::hours(1))); }

TEST(LaunchTimeTest, FollowsShorterLaunchesAtOnce) {
  LaunchTime time;
  time.Add(microseconds(1000));
  EXPECT_FALSE(time.IsAtMost(microseconds(999)));
  EXPECT_TRUE(time.IsAtMost(microseconds(1000)));
  time.Add(microseconds(10));
  EXPECT_TRUE(time.IsAtMost(microseconds(10)));
}

TEST(LaunchTimeTest, FollowsLongerLaunchesSlowly) {
  LaunchTime time;
  time.Add(microseconds(0));
  time.Add(microseconds(80));
  EXPECT_TRUE(time.IsAtMost(microseconds(10)));
  for (int i = 0; i < 100; ++i) time.Add(microseconds(80));
  EXPECT_FALSE(time.IsAtMost(microseconds(79)));
}

}  // namespace launch_time_test
}  // namespace hpu::emulator
