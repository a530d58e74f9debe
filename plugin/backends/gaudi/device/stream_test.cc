#include "plugin/backends/gaudi/device/stream.h"

#include <cstring>

#include "plugin/testing/gaudi_double.h"

namespace hpu::gaudi {
namespace {

constexpr auto kInternal = absl::StatusCode::kInternal;
constexpr auto kAborted = absl::StatusCode::kAborted;

#define EXPECT_OK(expression) EXPECT_EQ(absl::OkStatus(), (expression))

// Failures of queued work. synEventRecord reports failures of work that has ended, synEventSynchronize reports failures
// of work that ends later.
class GaudiStreamTest : public GaudiDeviceTest {
 protected:
  // The n-th command that SynapseAI runs fails with `status`.
  void FailCommand(int n, int status) {
    Set("SYNAPSE_DOUBLE_FAIL_COMMAND", absl::StrCat(n));
    Set("SYNAPSE_DOUBLE_FAIL_STATUS", absl::StrCat(status));
  }
};

TEST_P(GaudiStreamTest, FailedWorkStopsTheStreamUntilSynchronizeReportsIt) {
  FailCommand(2, 26);
  const auto memory = Memory(64);
  const auto stream = Stream();
  const auto before = Event();
  const auto after = Event();
  EXPECT_OK(stream->Fill(memory->address(), 1, 64));
  EXPECT_OK(stream->Record(*before));
  EXPECT_OK(stream->Fill(memory->address(), 2, 64));  // fails when it runs
  EXPECT_OK(stream->Record(*after));
  EXPECT_OK(stream->Fill(memory->address(), 3, 64));
  EXPECT_OK(before->Synchronize());
  ExpectError(after->Synchronize(), kInternal, "Fill of 64 bytes: synEvent");
  ExpectError(stream->Synchronize(), kInternal, "synFail (26)");
  EXPECT_OK(stream->Synchronize());
  EXPECT_EQ(Read(memory->address(), 64), std::vector<uint8_t>(64, 1));
  // SynapseAI's failed streams have been replaced.
  EXPECT_OK(stream->Fill(memory->address(), 4, 64));
  EXPECT_OK(stream->Record(*after));
  EXPECT_OK(after->Synchronize());
  EXPECT_OK(stream->Synchronize());
  EXPECT_EQ(Read(memory->address(), 64), std::vector<uint8_t>(64, 4));
}

TEST_P(GaudiStreamTest, EventsCarryFailuresToOtherStreams) {
  FailCommand(1, 26);
  const auto memory = Memory(128);
  const auto first = Stream();
  const auto second = Stream(hal::StreamKind::kDeviceToHost);
  const auto event = Event();
  EXPECT_OK(first->Fill(memory->address(), 1, 64));
  EXPECT_OK(first->Record(*event));
  EXPECT_OK(second->Wait(*event));
  EXPECT_OK(second->Fill(memory->address(), 2, 64));
  ExpectError(second->Synchronize(), kInternal, "Fill of 64 bytes: synEvent");
  ExpectError(first->Synchronize(), kInternal, "synFail (26)");
  for (hal::Stream* stream : {first.get(), second.get()}) {
    EXPECT_OK(stream->Fill(memory->address(), 7, 128));
    EXPECT_OK(stream->Synchronize());
  }
  EXPECT_EQ(Read(memory->address(), 128), std::vector<uint8_t>(128, 7));
}

TEST_P(GaudiStreamTest, CallbacksAfterFailedWorkRunWithItsError) {
  FailCommand(1, 26);
  const auto memory = Memory(64);
  const auto stream = Stream();
  std::vector<absl::Status> statuses;
  const auto note = [&](absl::Status status) { statuses.push_back(std::move(status)); };
  EXPECT_OK(stream->AddCallback(note));
  EXPECT_OK(stream->Fill(memory->address(), 1, 64));
  EXPECT_OK(stream->AddCallback(note));
  ExpectError(stream->Synchronize(), kInternal, "synFail");
  EXPECT_OK(stream->AddCallback(note));
  EXPECT_OK(stream->Synchronize());
  ASSERT_EQ(statuses.size(), 3u);
  EXPECT_OK(statuses[0]);
  ExpectError(statuses[1], kInternal, "synFail (26)");
  EXPECT_OK(statuses[2]);
}

TEST_P(GaudiStreamTest, ResetsLoseTheDevice) {
  for (const int status : {17, 31}) {
    FailCommand(2, status);
    {
      const auto memory = Memory(64);
      const auto stream = Stream();
      const auto other = Stream();
      EXPECT_OK(stream->Fill(memory->address(), 1, 64));
      EXPECT_OK(stream->Synchronize());
      EXPECT_OK(stream->Fill(memory->address(), 1, 64));
      ExpectError(stream->Synchronize(), kAborted, absl::StrCat("(", status, "): the device is lost"));
      ExpectError(stream->Synchronize(), kAborted, "the HPU is lost");
      ExpectError(other->Fill(memory->address(), 1, 64), kAborted, "the HPU is lost");
      ExpectError(device().CreateStream(hal::StreamKind::kCompute).status(), kAborted, "the HPU is lost");
    }
    ReleaseDevice();
    RestartRuntime();
  }
}

TEST_P(GaudiStreamTest, FullQueuesAreTriedAgain) {
  Set("SYNAPSE_DOUBLE_FAIL_CALLS", "synMemsetD32Async:1:22,synMemsetD32Async:2:22,synEventRecord:1:22");
  const auto memory = Memory(64);
  const auto stream = Stream();
  EXPECT_OK(stream->Fill(memory->address(), 9, 64));
  EXPECT_OK(stream->Synchronize());
  EXPECT_EQ(Read(memory->address(), 64), std::vector<uint8_t>(64, 9));
}

TEST_P(GaudiStreamTest, CallsThatSynapseRefusesFailTheStream) {
  Set("SYNAPSE_DOUBLE_FAIL_CALLS", "synMemsetD8Async:1:7");
  const auto memory = Memory(64);
  const auto stream = Stream();
  EXPECT_OK(stream->Fill(memory->address(), 1, 64));
  EXPECT_OK(stream->Fill(memory->address(), 2, 63));  // refused at the call
  EXPECT_OK(stream->Fill(memory->address(), 3, 64));  // skipped
  ExpectError(stream->Synchronize(), kInternal,
              "Fill of 63 bytes: synMemsetD8Async(size=63) failed with synCommandSubmissionFailure (7)");
  EXPECT_EQ(Read(memory->address(), 64), std::vector<uint8_t>(64, 1));
}

TEST_P(GaudiStreamTest, WorkThatChangesTheEngineKeepsItsOrder) {
  constexpr uint64_t kBytes = 4096;
  const auto memory = Memory(2 * kBytes);
  const auto host = Host(2 * kBytes);
  auto* data = static_cast<uint8_t*>(host->data());
  const auto stream = Stream(hal::StreamKind::kHostToDevice);
  for (int i = 1; i <= 20; ++i) {
    std::memset(data, i, kBytes);
    EXPECT_OK(stream->CopyToDevice(data, memory->address(), kBytes));
    EXPECT_OK(stream->CopyOnDevice(memory->address(), memory->address() + kBytes, kBytes));
    EXPECT_OK(stream->Fill(memory->address(), 0, kBytes));
    EXPECT_OK(stream->CopyToHost(memory->address() + kBytes, data + kBytes, kBytes));
    EXPECT_OK(stream->Synchronize());
    EXPECT_EQ(data[kBytes], i);
    EXPECT_EQ(data[2 * kBytes - 1], i);
  }
}

// Copies whose source and destination overlap, and which are larger than the scratch memory.
TEST_P(GaudiStreamTest, LargeOverlappingCopies) {
  constexpr uint64_t kBytes = uint64_t{40} << 20;
  const auto memory = Memory(kBytes + 256);
  const auto host = Host(kBytes);
  auto* words = static_cast<uint32_t*>(host->data());
  for (const bool is_upwards : {true, false}) {
    const uint64_t from = memory->address() + (is_upwards ? 0 : 132);
    const uint64_t to = memory->address() + (is_upwards ? 132 : 0);
    for (uint64_t i = 0; i < kBytes / 4; ++i) words[i] = i * 2654435761u;
    const auto stream = Stream();
    EXPECT_OK(stream->CopyToDevice(words, from, kBytes));
    EXPECT_OK(stream->CopyOnDevice(from, to, kBytes));
    EXPECT_OK(stream->Synchronize());
    std::memset(words, 0, kBytes);
    EXPECT_OK(stream->CopyToHost(to, words, kBytes));
    EXPECT_OK(stream->Synchronize());
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < kBytes / 4; ++i) wrong += words[i] != static_cast<uint32_t>(i * 2654435761u);
    EXPECT_EQ(wrong, 0u);
  }
  const auto stream = Stream();
  EXPECT_OK(stream->CopyOnDevice(memory->address(), memory->address(), kBytes));
  EXPECT_OK(stream->Synchronize());
}

TEST_P(GaudiStreamTest, CopiesFromPoolsCrossTheirParts) {
  constexpr uint64_t kPool = HostBuffers::kMaxPinnedAtOnce + 4096;
  constexpr uint64_t kBytes = 8192;
  const auto pool = Host(kPool);
  const auto memory = Memory(kBytes);
  auto* data = static_cast<uint8_t*>(pool->data()) + PinnedPages::kPoolPartBytes - kBytes / 2;
  for (uint64_t i = 0; i < kBytes; ++i) data[i] = static_cast<uint8_t>(i * 7);
  const std::vector<uint8_t> expected(data, data + kBytes);
  const auto stream = Stream();
  EXPECT_OK(stream->CopyToDevice(data, memory->address(), kBytes));
  EXPECT_OK(stream->Synchronize());
  EXPECT_EQ(Read(memory->address(), kBytes), expected);
}

TEST_P(GaudiStreamTest, MemoryThatCannotBePinnedFailsTheCall) {
  Set("SYNAPSE_DOUBLE_FAIL_CALLS", "synHostMap:1:3");
  const auto pool = Host(HostBuffers::kMaxPinnedAtOnce + 1);
  const auto memory = Memory(64);
  const auto stream = Stream();
  ExpectError(stream->CopyToDevice(pool->data(), memory->address(), 64), absl::StatusCode::kResourceExhausted,
              "ulimit -l");
  EXPECT_OK(stream->CopyToDevice(pool->data(), memory->address(), 64));
  EXPECT_OK(stream->Synchronize());
}

HPU_GAUDI_SUITE(GaudiStreamTest);

}  // namespace
}  // namespace hpu::gaudi
