// Tests of errors of asynchronous work and of lost devices. HPU_FAULTS injects the faults.
#include "plugin/testing/cts/fixture.h"

namespace hpu::cts {
namespace error_test {

constexpr auto kInternal = absl::StatusCode::kInternal;
constexpr auto kAborted = absl::StatusCode::kAborted;

class ErrorTest : public CtsTest {};

TEST_P(ErrorTest, WorkAfterAnErrorIsSkippedUntilSynchronizeReportsIt) {
  AcquireWithFaults("fill@2");
  const auto memory = Memory(8);
  const auto stream = Stream();
  ASSERT_OK(stream->Fill(memory->address(), 1, 8));
  ASSERT_OK(stream->Fill(memory->address(), 2, 8));  // fails
  ASSERT_OK(stream->Fill(memory->address(), 3, 8));  // skipped
  ExpectError(stream->Synchronize(), kInternal, "fill@2");
  ExpectContents(memory->address(), std::vector<uint8_t>(8, 1));
  EXPECT_OK(stream->Synchronize());
  ASSERT_OK(stream->Fill(memory->address(), 4, 8));
  EXPECT_OK(stream->Synchronize());
  ExpectContents(memory->address(), std::vector<uint8_t>(8, 4));
}

TEST_P(ErrorTest, CopiesFailToo) {
  AcquireWithFaults("copy@1");
  const auto memory = Memory(8);
  const auto host = Host(8);
  const auto stream = Stream();
  ASSERT_OK(stream->CopyToDevice(host->data(), memory->address(), 8));
  ExpectError(stream->Synchronize(), kInternal, "copy@1");
}

TEST_P(ErrorTest, EventsCarryTheErrorToWaiters) {
  AcquireWithFaults("fill@1");
  const auto memory = Memory(8);
  const auto stream = Stream();
  const auto before = Event();
  const auto after = Event();
  ASSERT_OK(stream->Record(*before));
  ASSERT_OK(stream->Fill(memory->address(), 1, 8));
  ASSERT_OK(stream->Record(*after));
  ExpectError(after->Synchronize(), kInternal, "fill@1");
  ExpectError(after->Query().status(), kInternal, "fill@1");
  EXPECT_OK(before->Synchronize());
  ExpectError(stream->Synchronize(), kInternal);
  // The event still marks failed work; a new record marks successful work.
  ExpectError(after->Synchronize(), kInternal, "fill@1");
  ASSERT_OK(stream->Record(*after));
  EXPECT_OK(after->Synchronize());
}

TEST_P(ErrorTest, EventsCarryTheErrorToOtherStreams) {
  AcquireWithFaults("fill@1");
  const auto memory = Memory(8);
  const auto first = Stream();
  const auto second = Stream(hal::StreamKind::kDeviceToHost);
  const auto event = Event();
  ASSERT_OK(first->Fill(memory->address(), 1, 8));
  ASSERT_OK(first->Record(*event));
  ASSERT_OK(second->Wait(*event));
  ASSERT_OK(second->Fill(memory->address(), 2, 8));  // skipped
  ExpectError(second->Synchronize(), kInternal, "fill@1");
  ExpectError(first->Synchronize(), kInternal, "fill@1");
  EXPECT_OK(second->Synchronize());
  EXPECT_OK(device().Synchronize());
}

TEST_P(ErrorTest, DeviceSynchronizeKeepsStreamErrors) {
  AcquireWithFaults("fill@1");
  const auto memory = Memory(8);
  const auto stream = Stream();
  ASSERT_OK(stream->Fill(memory->address(), 1, 8));
  EXPECT_OK(device().Synchronize());
  ExpectError(stream->Synchronize(), kInternal, "fill@1");
}

TEST_P(ErrorTest, CallbacksAlwaysRunAndReceiveTheError) {
  AcquireWithFaults("fill@1");
  const auto memory = Memory(8);
  const auto stream = Stream();
  std::vector<absl::Status> statuses;
  const auto note = [&](absl::Status status) { statuses.push_back(std::move(status)); };
  ASSERT_OK(stream->AddCallback(note));
  ASSERT_OK(stream->Fill(memory->address(), 1, 8));
  ASSERT_OK(stream->AddCallback(note));
  ExpectError(stream->Synchronize(), kInternal);
  ASSERT_OK(stream->AddCallback(note));
  ASSERT_OK(stream->Synchronize());
  ASSERT_EQ(3u, statuses.size());
  EXPECT_OK(statuses[0]);
  ExpectError(statuses[1], kInternal, "fill@1");
  EXPECT_OK(statuses[2]);
}

TEST_P(ErrorTest, TheFirstErrorIsTheOneReported) {
  AcquireWithFaults("fill@1+");
  const auto memory = Memory(8);
  const auto stream = Stream();
  for (int i = 0; i < 3; ++i) ASSERT_OK(stream->Fill(memory->address(), 1, 8));
  ExpectError(stream->Synchronize(), kInternal, "fill@1");
  ASSERT_OK(stream->Fill(memory->address(), 1, 8));  // skipped work does not count
  ExpectError(stream->Synchronize(), kInternal, "fill@2");
}

TEST_P(ErrorTest, StreamsMayBeDestroyedWithAnUnreportedError) {
  AcquireWithFaults("fill@1");
  const auto memory = Memory(8);
  const auto event = Event();
  {
    const auto stream = Stream();
    ASSERT_OK(stream->Fill(memory->address(), 1, 8));
    ASSERT_OK(stream->Record(*event));
  }
  ExpectError(event->Synchronize(), kInternal, "fill@1");
}

TEST_P(ErrorTest, AllocationsFailAtTheCall) {
  AcquireWithFaults("allocate@2");
  EXPECT_TRUE(device().AllocateMemory(8).ok());
  ExpectError(device().AllocateMemory(8).status(), kInternal, "allocate@2");
  EXPECT_TRUE(device().AllocateMemory(8).ok());
}

TEST_P(ErrorTest, LostDeviceRefusesAllCallsAndIsReleased) {
  AcquireWithFaults("lost@2");
  const auto memory = Memory(8);
  const auto host = Host(8);
  const auto stream = Stream();
  const auto event = Event();
  ASSERT_OK(stream->Fill(memory->address(), 1, 8));
  ASSERT_OK(stream->Fill(memory->address(), 1, 8));  // loses the device
  ExpectError(stream->Synchronize(), kAborted, "lost");
  ExpectError(stream->Fill(memory->address(), 1, 8), kAborted, "lost");
  ExpectError(stream->CopyToDevice(host->data(), memory->address(), 8), kAborted, "lost");
  ExpectError(stream->Record(*event), kAborted, "lost");
  ExpectError(stream->Wait(*event), kAborted, "lost");
  ExpectError(stream->AddCallback([](absl::Status) {}), kAborted, "lost");
  ExpectError(event->Query().status(), kAborted, "lost");
  ExpectError(event->Synchronize(), kAborted, "lost");
  ExpectError(stream->Synchronize(), kAborted, "lost");
  ExpectError(device().AllocateMemory(8).status(), kAborted, "lost");
  ExpectError(device().AllocateHost(8).status(), kAborted, "lost");
  ExpectError(device().CreateStream(hal::StreamKind::kCompute).status(), kAborted, "lost");
  ExpectError(device().CreateEvent().status(), kAborted, "lost");
  ExpectError(device().Synchronize(), kAborted, "lost");
}

TEST_P(ErrorTest, UnparsableFaultsAreRefused) {
  ReleaseDevice();
  for (const char* faults : {"fill", "fill@0", "fill@x", "burn@1", "fill@1,copy@"}) {
    const ScopedVariable variable("HPU_FAULTS", faults);
    ExpectError(Acquire().status(), absl::StatusCode::kInvalidArgument, "HPU_FAULTS");
  }
}

TEST_P(ErrorTest, UnsupportedOperationsAreUnimplemented) {
  if (auto id = device().CreateCommunicatorId(); !id.ok()) {
    ExpectError(id.status(), absl::StatusCode::kUnimplemented, "collective");
    ExpectError(device().CreateCommunicator({}).status(), absl::StatusCode::kUnimplemented, "collective");
  }
}

HPU_CTS_SUITE(ErrorTest);

}  // namespace error_test
}  // namespace hpu::cts
