// Memory statistics of a PjrtDevice, on a plugin that reports chosen figures.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <utility>

#include "plugin/backends/pjrt/device.h"
#include "plugin/testing/cts/programs.h"
#include "plugin/testing/pjrt_client.h"

namespace hpu::pjrt {
namespace device_memory_test {

class DeviceMemoryTest : public ClientFixture {
 protected:
  void SetUp() override {
    ClientFixture::SetUp();
    if (!HasFatalFailure()) ForwardToPlugin();
    if (HasFatalFailure()) return;
    forwarding_pjrt::SetMemoryStats(1 << 20, 2 << 20, -1, 3 << 20, 4 << 20, 5);
    hal::DeviceInfo info;
    info.memory_bytes = 1 << 20;
    auto reservation = cts::Value(common::Reservation::Create(info.memory_bytes, common::Reservation::Data::kNone));
    ASSERT_NE(nullptr, reservation);
    device_ = std::make_unique<PjrtDevice>(info, std::nullopt, std::move(client_), /*world=*/nullptr, /*job=*/nullptr,
                                           std::move(reservation), common::Faults());
  }
  void TearDown() override {
    device_.reset();
    ClientFixture::TearDown();
  }

  std::unique_ptr<PjrtDevice> device_;
};

TEST_F(DeviceMemoryTest, UsageHasThePluginsFigures) {
  const hal::DeviceUsage usage = device_->usage();
  EXPECT_EQ(1u << 20, usage.memory_bytes);
  EXPECT_EQ(2u << 20, usage.library_peak);
  EXPECT_EQ(std::nullopt, usage.library_limit);
  EXPECT_EQ(3u << 20, usage.library_largest_free_block);
  EXPECT_EQ(4u << 20, usage.library_pool);
  EXPECT_EQ(5u, usage.library_allocations);
}

// Plugins report some failures only after Execute has returned.
TEST_F(DeviceMemoryTest, LaunchesThatFailLaterReportTheFigures) {
  constexpr int64_t kCount = 1024;
  const auto memory = cts::Value(device_->AllocateMemory(2 * kCount * sizeof(float)));
  const auto recipe = cts::Value(device_->Compile(cts::AddInPlaceOutOfMemory(kCount)));
  const auto stream = cts::Value(device_->CreateStream(hal::StreamKind::kCompute));
  ASSERT_TRUE(memory != nullptr && recipe != nullptr && stream != nullptr);
  const hal::DeviceAddress x = memory->address(), d = x + kCount * sizeof(float);
  ASSERT_OK(stream->Launch(recipe, {{x, d}, {x}, 0}));
  const absl::Status status = stream->Synchronize();
  cts::ExpectError(status, absl::StatusCode::kResourceExhausted, "Out of memory allocating");
  cts::ExpectError(status, absl::StatusCode::kResourceExhausted,
                   "; device memory by the plugin: in use 1 MiB, peak 2 MiB, largest free block 3 MiB");
}

}  // namespace device_memory_test
}  // namespace hpu::pjrt
