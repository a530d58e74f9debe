#include "plugin/backends/gaudi/synapse/launch_table.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace hpu::synapse {
namespace {

TEST(LaunchTableTest, EntriesOfRelease15) {
  LaunchTable table(Profile::k1_5);
  ASSERT_TRUE(table.Append("x", {2, 3}).ok());
  ASSERT_TRUE(table.Append("y", {4}).ok());
  table.SetAddress(1, 0x1000);
  table.SetId(1, 17);
  const v1_5::synLaunchTensorInfo* entries = table.entries_1_5();
  EXPECT_EQ(table.size(), 2);
  EXPECT_STREQ(entries[0].tensorName, "x");
  EXPECT_EQ(entries[0].pTensorAddress, 0);
  EXPECT_EQ(entries[0].tensorType, DATA_TENSOR);
  EXPECT_EQ(entries[0].tensorSize[1], 3);
  EXPECT_EQ(entries[0].tensorSize[2], 0);
  EXPECT_STREQ(entries[1].tensorName, "y");
  EXPECT_EQ(entries[1].pTensorAddress, 0x1000);
}

TEST(LaunchTableTest, EntriesOfRelease118) {
  LaunchTable table(Profile::k1_18);
  ASSERT_TRUE(table.Append("x", {2, uint64_t{1} << 33}).ok());
  EXPECT_EQ(table.entries_1_18()[0].tensorId, kInvalidTensorId);
  table.SetAddress(0, 0x2000);
  table.SetId(0, 17);
  const v1_18::synLaunchTensorInfo& entry = table.entries_1_18()[0];
  EXPECT_EQ(entry.pTensorAddress, 0x2000);
  EXPECT_EQ(entry.tensorSize[1], uint64_t{1} << 33);
  EXPECT_EQ(entry.tensorId, 17);
}

TEST(LaunchTableTest, NamesSurviveGrowthAndMoves) {
  LaunchTable table(Profile::k1_18);
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(table.Append("t" + std::to_string(i), {1}).ok());
  const LaunchTable moved = std::move(table);
  EXPECT_STREQ(moved.entries_1_18()[0].tensorName, "t0");
  EXPECT_STREQ(moved.entries_1_18()[999].tensorName, "t999");
}

TEST(LaunchTableTest, SizesThatTheProfileLacksAreRefused) {
  LaunchTable table(Profile::k1_5);
  EXPECT_TRUE(absl::IsInvalidArgument(table.Append("x", {1, 1, 1, 1, 1, 1})));
  EXPECT_TRUE(absl::IsInvalidArgument(table.Append("x", {uint64_t{1} << 33})));
  EXPECT_EQ(table.size(), 0);
}

}  // namespace
}  // namespace hpu::synapse
