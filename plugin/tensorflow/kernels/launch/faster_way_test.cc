#include "plugin/tensorflow/kernels/launch/faster_way.h"

#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace hpu {
namespace faster_way_test {

constexpr absl::Duration kShort = absl::Milliseconds(1), kLong = absl::Milliseconds(3);

// Runs `times` times, each way with its duration. Returns the number of runs on the HPU.
int CountHpuRuns(FasterWay& ways, int times, absl::Duration hpu, absl::Duration cpu) {
  int count = 0;
  for (int i = 0; i < times; ++i) {
    const FasterWay::Choice choice = ways.Next();
    count += choice.way == FasterWay::kHpu;
    ways.Add(choice.way, choice.way == FasterWay::kHpu ? hpu : cpu);
  }
  return count;
}

TEST(FasterWayTest, TriesBothWaysInTurns) {
  FasterWay ways;
  EXPECT_EQ(CountHpuRuns(ways, 8, kShort, kLong), 4);
  EXPECT_EQ(CountHpuRuns(ways, 50, kShort, kLong), 50);
}

TEST(FasterWayTest, AClusterThatRanOnTheCpuTriesTheHpuOnly) {
  FasterWay ways(kShort);
  for (int i = 0; i < 4; ++i) {
    const FasterWay::Choice choice = ways.Next();
    EXPECT_TRUE(choice.way == FasterWay::kHpu && choice.is_trial);
    ways.Add(FasterWay::kHpu, kLong);
  }
  const FasterWay::Choice choice = ways.Next();
  EXPECT_TRUE(choice.way == FasterWay::kCpu && !choice.is_trial);
}

TEST(FasterWayTest, TriesTheOtherWayNowAndThenAndChangesItsMind) {
  FasterWay ways(kShort);
  CountHpuRuns(ways, 4, kLong, kShort);
  EXPECT_EQ(CountHpuRuns(ways, 640, kLong, kShort), 3);  // after 64, 128 and 256 runs
  EXPECT_GT(CountHpuRuns(ways, 2000, kShort, kLong), 1000);
}

TEST(FasterWayTest, AWayThatTakesMuchLongerIsTriedTwice) {
  FasterWay ways(kShort);
  EXPECT_EQ(CountHpuRuns(ways, 60, 4 * kShort, kShort), 2);
}

TEST(FasterWayTest, ATrialThatWasFasterIsRepeatedSoon) {
  FasterWay ways(2 * kShort);
  CountHpuRuns(ways, 4, kLong, 2 * kShort);
  CountHpuRuns(ways, 448, kLong, 2 * kShort);  // the next trial is after 512 runs
  EXPECT_EQ(CountHpuRuns(ways, 512 + 64, kShort, 2 * kShort), 2);
}

TEST(FasterWayTest, AnExcludedWayIsNotTried) {
  FasterWay ways(kShort);
  ways.Exclude(FasterWay::kCpu);
  EXPECT_EQ(CountHpuRuns(ways, 1000, kLong, kShort), 1000);
}

TEST(FasterWayTest, TheNextProcessBeginsWithTheTimes) {
  FasterWay ways;
  recipe::v1::ClusterNotes notes;
  EXPECT_FALSE(ways.Save(&notes));
  CountHpuRuns(ways, 8, kLong, kShort);
  ASSERT_TRUE(ways.Save(&notes));
  FasterWay next;
  next.Load(notes);
  EXPECT_EQ(CountHpuRuns(next, 20, kLong, kShort), 0);
}

TEST(FasterWayTest, NotesWithoutTimesChangeNothing) {
  FasterWay ways;
  ways.Load({});
  EXPECT_EQ(CountHpuRuns(ways, 8, kLong, kShort), 4);
}

}  // namespace faster_way_test
}  // namespace hpu
