// Tests of MemoryStats with a plugin that reports chosen figures.
#include "plugin/backends/pjrt/client/memory_stats.h"

#include <gtest/gtest.h>

#include "plugin/testing/cts/fixture.h"
#include "plugin/testing/forwarding_pjrt.h"
#include "plugin/testing/pjrt_client.h"

namespace hpu::pjrt {
namespace memory_stats_test {

using forwarding_pjrt::SetMemoryStats;

class MemoryStatsTest : public ClientFixture {
 protected:
  void SetUp() override {
    ClientFixture::SetUp();
    if (!HasFatalFailure()) ForwardToPlugin();
  }
};

TEST_F(MemoryStatsTest, AllFiguresAreRead) {
  SetMemoryStats(1 << 20, 2 << 20, 8 << 20, 1000, 4 << 20, 7);
  const MemoryStats stats = cts::Value(client_->memory_stats());
  EXPECT_EQ(1u << 20, stats.in_use);
  EXPECT_EQ(2u << 20, stats.peak);
  EXPECT_EQ(8u << 20, stats.limit);
  EXPECT_EQ(1000u, stats.largest_free_block);
  EXPECT_EQ(4u << 20, stats.pool);
  EXPECT_EQ(7u, stats.allocations);
  EXPECT_EQ("in use 1 MiB, peak 2 MiB, limit 8 MiB, largest free block 1000 bytes", Describe(stats));
  EXPECT_EQ(
      "{\"in_use\":1048576,\"peak\":2097152,\"limit\":8388608,\"largest_free_block\":1000,\"pool\":4194304,"
      "\"allocations\":7}",
      ToJson(stats));
}

TEST_F(MemoryStatsTest, FiguresThatThePluginDoesNotSetAreEmpty) {
  SetMemoryStats(0, -1, -1, 0, -1, -1);
  const MemoryStats stats = cts::Value(client_->memory_stats());
  for (const auto& figure : {stats.peak, stats.limit, stats.pool, stats.allocations}) EXPECT_FALSE(figure.has_value());
  EXPECT_EQ(0u, stats.largest_free_block);
  EXPECT_EQ("in use 0 bytes, largest free block 0 bytes", Describe(stats));
  EXPECT_EQ("{\"in_use\":0,\"largest_free_block\":0}", ToJson(stats));
}

TEST_F(MemoryStatsTest, PluginsWithoutStatisticsAddNothingToErrors) {
  if (client_->memory_stats().ok()) GTEST_SKIP() << "the plugin has statistics";
  cts::ExpectError(client_->memory_stats().status(), absl::StatusCode::kUnimplemented);
  const absl::Status error = absl::ResourceExhaustedError("out of memory");
  EXPECT_EQ(error, client_->WithMemoryStats(error));
}

TEST_F(MemoryStatsTest, OnlyErrorsOfExhaustedMemoryGetTheFiguresOnce) {
  SetMemoryStats(1 << 20, -1, 8 << 20, -1, -1, -1);
  const absl::Status error = client_->WithMemoryStats(absl::ResourceExhaustedError("out of memory."));
  EXPECT_EQ(absl::StatusCode::kResourceExhausted, error.code());
  EXPECT_EQ("out of memory; device memory by the plugin: in use 1 MiB, limit 8 MiB", error.message());
  EXPECT_EQ(error, client_->WithMemoryStats(error));
  EXPECT_EQ(absl::OkStatus(), client_->WithMemoryStats(absl::OkStatus()));
  EXPECT_EQ(absl::InternalError("x"), client_->WithMemoryStats(absl::InternalError("x")));
}

}  // namespace memory_stats_test
}  // namespace hpu::pjrt
