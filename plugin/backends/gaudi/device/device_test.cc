#include "plugin/backends/gaudi/device/device.h"

#include "plugin/testing/gaudi_double.h"

namespace hpu::gaudi {
namespace {

constexpr uint64_t kMb = uint64_t{1} << 20;

class GaudiMemoryTest : public GaudiDeviceTest {
 protected:
  uint64_t WindowMb(const hal::AcquireOptions& options = {}) {
    const auto acquired = Acquire(options);
    EXPECT_TRUE(acquired.ok()) << acquired.status();
    return acquired.ok() ? (*acquired)->info().memory_bytes / kMb : 0;
  }
};

TEST_P(GaudiMemoryTest, WindowIsWhatIsFreeLessTheAllowance) {
  Set("SYNAPSE_DOUBLE_DEVICE_BYTES", absl::StrCat(300 * kMb));
  Set("TF_HCCL_MEMORY_ALLOWANCE_MB", "100");
  EXPECT_EQ(WindowMb(), 200u);
  Set("TF_HCCL_MEMORY_ALLOWANCE_MB", "0");
  EXPECT_EQ(WindowMb(), 300u);
  Set("HPU_MEMORY_MB", "50");
  EXPECT_EQ(WindowMb(), 50u);
  Set("HPU_MEMORY_MB", "500");
  EXPECT_EQ(WindowMb(), 300u);
  hal::AcquireOptions options;
  options.memory_bytes = 20 * kMb;
  EXPECT_EQ(WindowMb(options), 20u);
}

TEST_P(GaudiMemoryTest, AnAllowanceOfAllMemoryIsRefused) {
  Set("SYNAPSE_DOUBLE_DEVICE_BYTES", absl::StrCat(300 * kMb));
  Set("TF_HCCL_MEMORY_ALLOWANCE_MB", "300");
  ExpectError(Acquire({}).status(), absl::StatusCode::kResourceExhausted,
              "300 of 300 MiB are free, and TF_HCCL_MEMORY_ALLOWANCE_MB reserves 300 MiB; lower this setting");
}

TEST_P(GaudiMemoryTest, LessIsTakenIfTheCardRefusesAll) {
  Set("SYNAPSE_DOUBLE_DEVICE_BYTES", absl::StrCat(160 * kMb));
  Set("SYNAPSE_DOUBLE_FAIL_CALLS", "synDeviceMalloc:1:4,synDeviceMalloc:2:14");
  Set("TF_HCCL_MEMORY_ALLOWANCE_MB", "0");
  EXPECT_EQ(WindowMb(), 140u);
}

TEST_P(GaudiMemoryTest, RefusalOfAllSizesNamesTheSettings) {
  Set("SYNAPSE_DOUBLE_FAIL_CALLS",
      "synDeviceMalloc:1:4,synDeviceMalloc:2:4,synDeviceMalloc:3:4,synDeviceMalloc:4:4,synDeviceMalloc:5:4");
  const absl::Status status = Acquire({}).status();
  ExpectError(status, absl::StatusCode::kResourceExhausted, "MiB of the card's memory: synDeviceMalloc(size=");
  ExpectError(status, absl::StatusCode::kResourceExhausted, "lower HPU_MEMORY_MB");
  EXPECT_EQ(runtime().held_module(), -1);
}

TEST_P(GaudiMemoryTest, UsageCountsTheCardsMemoryWithoutTheFreePartOfTheWindow) {
  EXPECT_EQ(device().memory_info().total_bytes, kMemoryBytes);
  EXPECT_EQ(device().usage().memory_bytes, 0u);
  const auto memory = Memory(10 * kMb);
  EXPECT_EQ(device().usage().memory_bytes, 10 * kMb);
  EXPECT_EQ(device().memory_info().free_bytes, kMemoryBytes - 10 * kMb);
}

class GaudiInfoTest : public GaudiDeviceTest {};

TEST_P(GaudiInfoTest, DescribesTheCard) {
  const bool is_1_5 = runtime().library().profile() == synapse::Profile::k1_5;
  const hal::DeviceInfo& info = device().info();
  EXPECT_EQ(info.backend, "gaudi");
  EXPECT_EQ(info.type, is_1_5 ? "GAUDI" : "GAUDI2");
  EXPECT_EQ(info.module_id, 0);
  EXPECT_TRUE(absl::StartsWith(info.description, info.type)) << info.description;
  EXPECT_TRUE(absl::StrContains(info.description, absl::StrCat(", module 0, SynapseAI ", is_1_5 ? "1.5" : "1.18")))
      << info.description;
  const hal::DeviceTraits traits = device().traits();
  EXPECT_FALSE(traits.copies_are_staged);
  EXPECT_EQ(traits.host_results, nullptr);
}

TEST_P(GaudiInfoTest, ALostCardRefusesEveryCallAndIsReleased) {
  Set("SYNAPSE_DOUBLE_FAIL_CALLS", "synHostMalloc:2:17");
  const auto memory = Memory(64);
  const auto host = Host(64);
  const auto stream = Stream();
  const auto event = Event();
  constexpr auto kAborted = absl::StatusCode::kAborted;
  ExpectError(device().AllocateHost(64).status(), kAborted, "synDeviceReset (17)");
  const std::string text = "the HPU is lost: ";
  ExpectError(device().AllocateHost(64).status(), kAborted, text);
  ExpectError(device().AllocateMemory(64).status(), kAborted, text);
  ExpectError(stream->Fill(memory->address(), 1, 64), kAborted, text);
  ExpectError(stream->Record(*event), kAborted, text);
  ExpectError(stream->Synchronize(), kAborted, text);
  ExpectError(device().Synchronize(), kAborted, "restart the process");
}

HPU_GAUDI_SUITE(GaudiMemoryTest);
HPU_GAUDI_SUITE(GaudiInfoTest);

}  // namespace
}  // namespace hpu::gaudi
