// Tests of collectives that the devices of one client run: which path is taken, waits and errors.
#include "plugin/backends/pjrt/device_exchange.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/backends/pjrt/collective_programs.h"
#include "plugin/backends/pjrt/device.h"
#include "plugin/hal/backend.h"
#include "plugin/testing/cts/fixture.h"

namespace hpu::pjrt {
namespace device_exchange_test {

constexpr int kRanks = 2;
constexpr uint64_t kCount = 1 << 20;  // CPU plugins run shorter programs within the call
constexpr uint64_t kBytes = kCount * sizeof(float);

// Two devices of one client of the CPU plugin.
class DeviceExchangeTest : public testing::Test {
 protected:
  void SetUp() override {
    for (std::unique_ptr<hal::Device>& device : devices_) {
      device = Acquire();
      ASSERT_NE(nullptr, device);
    }
  }

  static std::unique_ptr<hal::Device> Acquire() {
    const auto backend = hal::GetBackend("pjrt:cpu");
    if (!backend.ok()) return nullptr;
    hal::AcquireOptions options;
    options.memory_bytes = 64 << 20;
    return cts::Value((*backend)->Acquire(options));
  }

  PjrtDevice& device(int rank) { return static_cast<PjrtDevice&>(*devices_[rank]); }

  // Calls `use` on a thread per rank with the result of creating a communicator of all ranks.
  template <typename Use>
  void CreateCommunicators(const Use& use) {
    const std::string id = cts::Value(device(0).CreateCommunicatorId());
    std::vector<std::thread> threads;
    for (int rank = 0; rank < kRanks; ++rank) {
      threads.emplace_back([&, rank] {
        hal::CommunicatorOptions options;
        options.id = id;
        options.rank = rank;
        options.size = kRanks;
        use(device(rank), device(rank).CreateCommunicator(options));
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

  // Runs `body` for each rank with a communicator of all ranks.
  template <typename Body>
  void ForEachRank(const Body& body) {
    CreateCommunicators([&](PjrtDevice& device, auto created) {
      const auto communicator = cts::Value(std::move(created));
      if (communicator != nullptr) body(device, *communicator);
    });
  }

  const cts::ScopedVariable collectives_{"HPU_PJRT_COLLECTIVES", "device"};
  const cts::ScopedVariable options_{"HPU_PJRT_OPTIONS", absl::StrCat("cpu_device_count=", kRanks)};
  std::unique_ptr<hal::Device> devices_[kRanks];
};

TEST_F(DeviceExchangeTest, DevicesShareAWorldAndItsPrograms) {
  World* const world = device(0).world();
  ASSERT_NE(nullptr, world);
  EXPECT_EQ(world, device(1).world());
  EXPECT_NE(device(0).member().device, device(1).member().device);
  ForEachRank([](PjrtDevice& device, hal::Communicator& communicator) {
    const auto memory = cts::Value(device.AllocateMemory(kBytes));
    const auto stream = cts::Value(device.CreateStream(hal::StreamKind::kCompute));
    const hal::DeviceAddress at = memory->address();
    EXPECT_OK(stream->Fill(at, 0, kBytes));
    for (int i = 0; i < 3; ++i) {
      EXPECT_OK(communicator.AllReduce(*stream, at, at, kCount, hal::DataType::kFloat32, hal::ReduceOp::kSum));
    }
    EXPECT_OK(communicator.Broadcast(*stream, at, at, kCount, hal::DataType::kFloat32, 0));
    // Elements that are only moved have one program for all types of a size.
    EXPECT_OK(communicator.Broadcast(*stream, at, at, kCount, hal::DataType::kInt32, 0));
    EXPECT_OK(stream->Synchronize());
  });
  EXPECT_EQ(2, world->programs());
}

TEST_F(DeviceExchangeTest, AWorldEndsWithItsDevices) {
  const uint64_t first = device(0).world()->id();
  devices_[0].reset();
  devices_[0] = Acquire();
  EXPECT_EQ(first, device(0).world()->id());
  for (auto& device : devices_) device.reset();
  devices_[0] = Acquire();
  EXPECT_NE(first, device(0).world()->id());
}

TEST_F(DeviceExchangeTest, RecipesOfTheBackendAreForEachDevice) {
  const std::string target = cts::Value(cts::Value(hal::GetBackend("pjrt:cpu"))->CompilerTarget());
  for (int rank = 0; rank < kRanks; ++rank) EXPECT_EQ(target, device(rank).info().compiler_target);
  const cts::ScopedVariable host("HPU_PJRT_COLLECTIVES", "host");
  EXPECT_NE(target, cts::Value(cts::Value(hal::GetBackend("pjrt:cpu"))->CompilerTarget()));
}

TEST_F(DeviceExchangeTest, AModuleThatIsNoDeviceIsRefused) {
  const auto backend = cts::Value(hal::GetBackend("pjrt:cpu"));
  hal::AcquireOptions options;
  options.module_id = kRanks;
  cts::ExpectError(backend->Acquire(options).status(), absl::StatusCode::kInvalidArgument,
                   "has no device 2: it found 2; correct the module or HPU_PJRT_OPTIONS");
}

TEST_F(DeviceExchangeTest, RanksWithOtherSettingsAreRefused) {
  devices_[1].reset();
  {
    const cts::ScopedVariable host("HPU_PJRT_COLLECTIVES", "host");
    devices_[1] = Acquire();
  }
  CreateCommunicators([](PjrtDevice&, const auto& created) {
    cts::ExpectError(created.status(), absl::StatusCode::kFailedPrecondition,
                     "HPU_PJRT_COLLECTIVES differs between them");
  });
}

// A launch on the result waits until the collective has been launched, and fails with its error.
TEST_F(DeviceExchangeTest, CopiesOfAFailedResultFail) {
  ForEachRank([](PjrtDevice& device, hal::Communicator& communicator) {
    const auto memory = cts::Value(device.AllocateMemory(kBytes));
    const auto stream = cts::Value(device.CreateStream(hal::StreamKind::kCompute));
    const auto other = cts::Value(device.CreateStream(hal::StreamKind::kCompute));
    const hal::DeviceAddress at = memory->address();
    const auto host = cts::Value(device.AllocateHost(kBytes));
    const uint64_t count = kCount - communicator.rank();
    EXPECT_OK(communicator.AllReduce(*stream, at, at, count, hal::DataType::kFloat32, hal::ReduceOp::kSum));
    EXPECT_OK(other->CopyToHost(at, host->data(), count * sizeof(float)));
    cts::ExpectError(other->Synchronize(), absl::StatusCode::kInvalidArgument, "request different operations");
    cts::ExpectError(stream->Synchronize(), absl::StatusCode::kInvalidArgument, "request different operations");
  });
}

// One rank launches. It waits for the other one, until the check reports a failed rank and the grace period is over.
TEST_F(DeviceExchangeTest, AFailedRankEndsTheWait) {
  const hal::DeviceAddress at = 128;
  std::unique_ptr<DeviceExchange> exchanges[kRanks];
  common::Collective collective;
  collective.elements = kCount;
  collective.dtype = hal::DataType::kFloat32;
  for (int rank = 0; rank < kRanks; ++rank) {
    Event end;
    EXPECT_OK(device(rank).contents().Fill(at, 0, kBytes, &end));
    DeviceExchange::Program program;
    program.stablehlo = CollectiveProgram(collective, kRanks);
    for (int other = 0; other < kRanks; ++other) {
      program.devices.push_back(static_cast<int64_t>(device(other).member().device));
    }
    program.source_bytes = kBytes;
    const peers::Operand operand = {at, kBytes, false};
    exchanges[rank] = device(rank).contents().Collective(*device(rank).world(), program, operand, operand);
    ASSERT_OK(exchanges[rank]->Prepare());
  }
  std::atomic<bool> has_failed{false};
  absl::Status status;
  std::thread first([&] {
    status = exchanges[0]->Launch(7);
    const auto check = [] { return absl::CancelledError("rank 1 has left"); };
    if (status.ok()) status = exchanges[0]->Await(check);
    has_failed = true;
  });
  for (int i = 0; i < 200 && !has_failed; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const bool had_failed = has_failed;
  EXPECT_OK(exchanges[1]->Launch(7));  // lets the program of the first rank end
  EXPECT_OK(exchanges[1]->Await([] { return absl::OkStatus(); }));
  first.join();
  EXPECT_TRUE(had_failed);
  cts::ExpectError(status, absl::StatusCode::kCancelled, "rank 1 has left");
  for (auto& device : devices_) device->Synchronize().IgnoreError();
}

}  // namespace device_exchange_test
}  // namespace hpu::pjrt
