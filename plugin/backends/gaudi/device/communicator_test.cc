#include "plugin/backends/gaudi/device/communicator.h"

#include <filesystem>

#include "plugin/testing/gaudi_double.h"

namespace hpu::gaudi {
namespace {

// Communicators of one rank. plugin/testing/cts/communicator_test.cc tests several ranks, one process each.
class GaudiCommunicatorTest : public GaudiDeviceTest {
 protected:
  absl::StatusOr<std::unique_ptr<hal::Communicator>> Create(int rank = 0, int size = 1) {
    hal::CommunicatorOptions options;
    options.id = *device().CreateCommunicatorId();
    options.rank = rank;
    options.size = size;
    return device().CreateCommunicator(options);
  }
  std::unique_ptr<hal::Communicator> One() {
    auto created = Create();
    EXPECT_TRUE(created.ok()) << created.status();
    return *std::move(created);
  }
};

constexpr auto kF32 = hal::DataType::kFloat32;
constexpr auto kSumOp = hal::ReduceOp::kSum;

TEST_P(GaudiCommunicatorTest, OneRankReducesItself) {
  const auto all = One();
  const auto memory = Memory(64);
  const auto stream = Stream();
  EXPECT_EQ(absl::OkStatus(), stream->Fill(memory->address(), 7, 32));
  EXPECT_EQ(absl::OkStatus(), all->AllReduce(*stream, memory->address(), memory->address() + 32, 8, kF32, kSumOp));
  EXPECT_EQ(absl::OkStatus(), stream->Synchronize());
  EXPECT_EQ(Read(memory->address() + 32, 32), std::vector<uint8_t>(32, 7));
}

TEST_P(GaudiCommunicatorTest, TypesThatCardsDoNotReduceAreRefused) {
  const auto all = One();
  const auto memory = Memory(64);
  const auto stream = Stream();
  for (const auto dtype : {hal::DataType::kInt32, hal::DataType::kInt64, hal::DataType::kFloat64}) {
    ExpectError(all->AllReduce(*stream, memory->address(), memory->address(), 4, dtype, kSumOp),
                absl::StatusCode::kUnimplemented, absl::StrCat("elements of ", hal::NameOf(dtype)));
    ExpectError(all->ReduceScatter(*stream, memory->address(), memory->address(), 4, dtype, kSumOp),
                absl::StatusCode::kUnimplemented, "ReduceScatter");
  }
  EXPECT_EQ(absl::OkStatus(), stream->Synchronize());
}

TEST_P(GaudiCommunicatorTest, WrongRanksAreRefused) {
  ExpectError(Create(1, 1).status(), absl::StatusCode::kInvalidArgument, "no rank 1 in a communicator of 1 ranks");
  ExpectError(Create(0, 0).status(), absl::StatusCode::kInvalidArgument, "no rank 0");
}

TEST_P(GaudiCommunicatorTest, FailuresOfHcclAtACallEndTheCommunicator) {
  Set("SYNAPSE_DOUBLE_FAIL_CALLS", "hcclAllReduce:1:6");
  const auto all = One();
  const auto memory = Memory(64);
  const auto stream = Stream();
  const auto reduce = [&] { return all->AllReduce(*stream, memory->address(), memory->address(), 4, kF32, kSumOp); };
  EXPECT_EQ(absl::OkStatus(), reduce());
  ExpectError(stream->Synchronize(), absl::StatusCode::kInternal,
              "AllReduce of 16 bytes: hcclAllReduce(count=4, type=7, op=0) failed with hcclInternalError (6)");
  EXPECT_EQ(absl::OkStatus(), reduce());
  ExpectError(stream->Synchronize(), absl::StatusCode::kCancelled, "rank 0 failed: hcclAllReduce(");
  EXPECT_EQ(absl::OkStatus(), stream->Fill(memory->address(), 1, 64));
  EXPECT_EQ(absl::OkStatus(), stream->Synchronize());
}

TEST_P(GaudiCommunicatorTest, FailuresOfWorkEndTheCommunicator) {
  Set("SYNAPSE_DOUBLE_FAIL_COMMAND", "1");
  const auto all = One();
  const auto memory = Memory(64);
  const auto stream = Stream();
  EXPECT_EQ(absl::OkStatus(), all->AllReduce(*stream, memory->address(), memory->address(), 4, kF32, kSumOp));
  ExpectError(stream->Synchronize(), absl::StatusCode::kInternal, "AllReduce of 16 bytes: synEvent");
  EXPECT_EQ(absl::OkStatus(), all->AllReduce(*stream, memory->address(), memory->address(), 4, kF32, kSumOp));
  ExpectError(stream->Synchronize(), absl::StatusCode::kCancelled, "rank 0 failed");
}

// A failed stream skips the operation, so the communicator must end for the ranks that wait for the operation.
TEST_P(GaudiCommunicatorTest, OperationsOfFailedStreamsEndTheCommunicator) {
  Set("SYNAPSE_DOUBLE_FAIL_CALLS", "synMemsetD32Async:1:7");
  const auto all = One();
  const auto memory = Memory(64);
  const auto stream = Stream();
  const auto other = Stream();
  EXPECT_EQ(absl::OkStatus(), stream->Fill(memory->address(), 1, 64));
  EXPECT_EQ(absl::OkStatus(), all->AllReduce(*stream, memory->address(), memory->address(), 4, kF32, kSumOp));
  EXPECT_EQ(absl::OkStatus(), all->AllReduce(*other, memory->address(), memory->address(), 4, kF32, kSumOp));
  ExpectError(stream->Synchronize(), absl::StatusCode::kInternal, "synCommandSubmissionFailure");
  ExpectError(other->Synchronize(), absl::StatusCode::kCancelled, "rank 0 failed: Fill of 64 bytes");
}

TEST_P(GaudiCommunicatorTest, LostDevicesEndTheirCommunicators) {
  Set("SYNAPSE_DOUBLE_FAIL_COMMAND", "1");
  Set("SYNAPSE_DOUBLE_FAIL_STATUS", "17");
  const auto all = One();
  const auto memory = Memory(64);
  const auto stream = Stream();
  EXPECT_EQ(absl::OkStatus(), all->AllReduce(*stream, memory->address(), memory->address(), 4, kF32, kSumOp));
  ExpectError(stream->Synchronize(), absl::StatusCode::kAborted, "the HPU is lost");
  ExpectError(all->AllReduce(*stream, memory->address(), memory->address(), 4, kF32, kSumOp),
              absl::StatusCode::kAborted, "the HPU is lost");
}

HPU_GAUDI_SUITE(GaudiCommunicatorTest);

}  // namespace
}  // namespace hpu::gaudi
