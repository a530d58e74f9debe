// Tests of collective operations between two devices.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "plugin/testing/cts/ranks.h"

namespace hpu::cts {
namespace communicator_test {

constexpr uint64_t kCount = 5003;  // not divisible into equal rank shares or work blocks
constexpr auto kFloat = hal::DataType::kFloat32;
constexpr auto kSum = hal::ReduceOp::kSum;

class CommunicatorTest : public RankTest {
 protected:
  void SetUp() override {
    CtsTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    SetUpRanks(4 * kRanks * kCount);
    if (HasFatalFailure()) return;
    Run([this](Rank& rank) {
      const std::string id = SharedId(rank, "id");
      rank.communicator = Value(rank.device->CreateCommunicator(Options(rank, id, kRanks)));
    });
    for (Rank& rank : ranks_here()) ASSERT_NE(nullptr, rank.communicator);
  }

  // A communicator id, which rank 0 creates and publishes as `name`.
  std::string SharedId(const Rank& rank, const std::string& name) {
    if (rank.number == 0) Publish(name, Value(rank.device->CreateCommunicatorId()));
    return AwaitText(name);
  }

  static hal::CommunicatorOptions Options(const Rank& rank, const std::string& id, int size) {
    hal::CommunicatorOptions options;
    options.id = id;
    options.rank = rank.number;
    options.size = size;
    return options;
  }

  // Source element i of rank r: small whole numbers, so that sums are exact.
  static float Element(int r, uint64_t i) { return static_cast<float>(r * 10 + i % 7); }
  static float Sum(uint64_t i) { return Element(0, i) + Element(1, i); }
  static void WriteElements(Rank& rank, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) rank.data()[i] = Element(rank.number, i);
    rank.Write(count);
    EXPECT_OK(rank.stream->Synchronize());
  }
  // Checks that `count` elements from `first` on are element(0), element(1), …
  template <typename Expected>
  static void ExpectElements(Rank& rank, uint64_t first, uint64_t count, const Expected& element) {
    ASSERT_OK(rank.Read(first, count));
    for (uint64_t i = 0; i < count; ++i) ASSERT_EQ(element(i), rank.data()[i]) << "rank " << rank.number << ", " << i;
  }
  static absl::Status AllReduce(Rank& rank, uint64_t to, const hal::Elements& elements) {
    return rank.communicator->AllReduce(*rank.stream, rank.at(0), rank.at(to), elements, kFloat, kSum);
  }
};

TEST_P(CommunicatorTest, AllReduceInPlaceAndOutOfPlace) {
  Run([](Rank& rank) {
    for (const uint64_t to : {uint64_t{0}, kCount}) {
      WriteElements(rank, kCount);
      EXPECT_OK(AllReduce(rank, to, kCount));
      ExpectElements(rank, to, kCount, Sum);
    }
  });
}

TEST_P(CommunicatorTest, GatherScatterAndBroadcast) {
  Run([](Rank& rank) {
    hal::Communicator& all = *rank.communicator;
    WriteElements(rank, kRanks * kCount);
    EXPECT_OK(all.AllGather(*rank.stream, rank.at(0), rank.at(kRanks * kCount), kCount, kFloat));
    ExpectElements(rank, kRanks * kCount, kRanks * kCount,
                   [](uint64_t i) { return Element(static_cast<int>(i / kCount), i % kCount); });
    EXPECT_OK(
        all.ReduceScatter(*rank.stream, rank.at(0), rank.at(kRanks * kCount), kCount, kFloat, hal::ReduceOp::kMax));
    ExpectElements(rank, kRanks * kCount, kCount,
                   [&](uint64_t i) { return Element(kRanks - 1, rank.number * kCount + i); });
    EXPECT_OK(all.Broadcast(*rank.stream, rank.number == 1 ? rank.at(0) : 0, rank.at(0), kCount, kFloat, 1));
    ExpectElements(rank, 0, kCount, [](uint64_t i) { return Element(1, i); });
  });
}

// Elements of all sizes are moved unchanged.
TEST_P(CommunicatorTest, EveryTypeIsMoved) {
  Run([](Rank& rank) {
    for (const auto dtype :
         {hal::DataType::kBool, hal::DataType::kInt8, hal::DataType::kBFloat16, hal::DataType::kInt16,
          hal::DataType::kInt32, hal::DataType::kInt64, hal::DataType::kFloat64, hal::DataType::kComplex128}) {
      constexpr uint64_t kElements = 31;
      const uint64_t bytes = kElements * hal::SizeOf(dtype);
      const auto pattern = [&](int number) { return Pattern(bytes, static_cast<uint8_t>(number)); };
      const auto own = pattern(rank.number);
      std::copy(own.begin(), own.end(), static_cast<uint8_t*>(rank.host->data()));
      EXPECT_OK(rank.stream->CopyToDevice(rank.host->data(), rank.at(0), bytes));
      EXPECT_OK(rank.communicator->AllGather(*rank.stream, rank.at(0), rank.at(kCount), kElements, dtype));
      EXPECT_OK(rank.stream->CopyToHost(rank.at(kCount), rank.host->data(), kRanks * bytes));
      ASSERT_OK(rank.stream->Synchronize());
      const auto* gathered = static_cast<const uint8_t*>(rank.host->data());
      for (int number = 0; number < kRanks; ++number) {
        EXPECT_TRUE(std::equal(gathered + number * bytes, gathered + (number + 1) * bytes, pattern(number).begin()))
            << hal::NameOf(dtype);
      }
    }
  });
}

TEST_P(CommunicatorTest, OperationsWithoutElements) {
  Run([](Rank& rank) {
    EXPECT_OK(AllReduce(rank, 0, 0));
    EXPECT_OK(rank.communicator->BeginGroup());
    EXPECT_OK(rank.communicator->Send(*rank.stream, rank.at(0), 0, kFloat, 1 - rank.number));
    EXPECT_OK(rank.communicator->Receive(*rank.stream, rank.at(0), 0, kFloat, 1 - rank.number));
    EXPECT_OK(rank.communicator->EndGroup());
    EXPECT_OK(rank.stream->Synchronize());
  });
}

TEST_P(CommunicatorTest, CallsReturnBeforeTheOtherRanksCall) {
  Run([this](Rank& rank) {
    WriteElements(rank, kCount);
    if (rank.number != 0) AwaitText("queued");
    for (int i = 0; i < 3; ++i) EXPECT_OK(AllReduce(rank, kCount, kCount));
    if (rank.number == 0) Publish("queued", "");
    ExpectElements(rank, kCount, kCount, Sum);
  });
}

TEST_P(CommunicatorTest, TransfersOfAGroupStartTogether) {
  Run([](Rank& rank) {
    WriteElements(rank, kCount);
    const int next = (rank.number + 1) % kRanks;
    const int previous = (rank.number + kRanks - 1) % kRanks;
    EXPECT_OK(rank.communicator->BeginGroup());
    EXPECT_OK(rank.communicator->Send(*rank.stream, rank.at(0), kCount, kFloat, next));
    EXPECT_OK(rank.communicator->Receive(*rank.stream, rank.at(kCount), kCount, kFloat, previous));
    EXPECT_OK(rank.communicator->EndGroup());
    ExpectElements(rank, kCount, kCount, [&](uint64_t i) { return Element(previous, i); });
  });
}

TEST_P(CommunicatorTest, TransfersWithoutAGroup) {
  Run([](Rank& rank) {
    WriteElements(rank, kCount);
    for (int i = 0; i < 3; ++i) {
      if (rank.number == 0) {
        EXPECT_OK(rank.communicator->Send(*rank.stream, rank.at(i), kCount, kFloat, 1));
      } else {
        EXPECT_OK(rank.communicator->Receive(*rank.stream, rank.at((i + 1) * kCount), kCount, kFloat, 0));
      }
    }
    EXPECT_OK(rank.stream->Synchronize());
    if (rank.number == 0) return;
    ExpectElements(rank, 2 * kCount, kCount - 1, [](uint64_t i) { return Element(0, i + 1); });
  });
}

TEST_P(CommunicatorTest, DifferentSizesFailOnAllRanks) {
  Run([](Rank& rank) {
    EXPECT_OK(AllReduce(rank, 0, 10 + rank.number));
    const absl::Status status = rank.stream->Synchronize();
    for (int r = 0; r < kRanks; ++r) {
      ExpectError(status, absl::StatusCode::kInvalidArgument,
                  absl::StrCat("rank ", r, ": AllReduce(sum) of ", 10 + r, " elements of float32"));
    }
  });
}

TEST_P(CommunicatorTest, DifferentShapesFailOnAllRanks) {
  const std::string shapes[] = {"[2,3]", "[3,2]"};
  Run([&](Rank& rank) {
    EXPECT_OK(AllReduce(rank, 0, hal::Elements(6, shapes[rank.number])));
    const absl::Status status = rank.stream->Synchronize();
    for (int r = 0; r < kRanks; ++r) {
      ExpectError(status, absl::StatusCode::kInvalidArgument,
                  absl::StrCat("rank ", r, ": AllReduce(sum) of 6 elements of float32, shape ", shapes[r]));
    }
  });
}

TEST_P(CommunicatorTest, TransfersOfDifferentShapesFailOnBothRanks) {
  const std::string shapes[] = {"[2,3]", "[3,2]"};
  Run([&](Rank& rank) {
    const hal::Elements elements(6, shapes[rank.number]);
    EXPECT_OK(rank.communicator->BeginGroup());
    EXPECT_OK(rank.communicator->Send(*rank.stream, rank.at(0), elements, kFloat, 1 - rank.number));
    EXPECT_OK(rank.communicator->Receive(*rank.stream, rank.at(6), elements, kFloat, 1 - rank.number));
    EXPECT_OK(rank.communicator->EndGroup());
    ExpectError(rank.stream->Synchronize(), absl::StatusCode::kInvalidArgument, "6 elements of float32, shape [2,3]");
  });
}

TEST_P(CommunicatorTest, DifferencesLeaveTheCommunicatorUsable) {
  Run([](Rank& rank) {
    EXPECT_OK(AllReduce(rank, 0, 10 + rank.number));
    ExpectError(rank.stream->Synchronize(), absl::StatusCode::kInvalidArgument);
    WriteElements(rank, 4);
    EXPECT_OK(AllReduce(rank, 0, 4));
    ExpectElements(rank, 0, 4, Sum);
  });
}

TEST_P(CommunicatorTest, DevicesWorkAfterAFailedOperation) {
  Run([](Rank& rank) {
    EXPECT_OK(AllReduce(rank, 0, 10 + rank.number));
    ExpectError(rank.stream->Synchronize(), absl::StatusCode::kInvalidArgument);
    rank.communicator.reset();
    WriteElements(rank, kCount);
    ExpectElements(rank, 0, kCount, [&](uint64_t i) { return Element(rank.number, i); });
  });
}

TEST_P(CommunicatorTest, DestroyedRankCancelsWaitingRanks) {
  Run([this](Rank& rank) {
    if (rank.number == kRanks - 1) {
      AwaitText("waits");
      rank.communicator.reset();
      return;
    }
    EXPECT_OK(AllReduce(rank, 0, 4));
    Publish("waits", "");
    ExpectError(rank.stream->Synchronize(), absl::StatusCode::kCancelled, "rank 1");
  });
}

// A rank that leaves directly after an operation does not disturb the ranks that still work on it.
TEST_P(CommunicatorTest, RanksMayLeaveAfterTheirLastOperation) {
  Run([](Rank& rank) {
    WriteElements(rank, kCount);
    EXPECT_OK(rank.communicator->Broadcast(*rank.stream, rank.at(0), rank.at(kCount), kCount, kFloat, 0));
    if (rank.number == 0) {
      EXPECT_OK(rank.stream->Synchronize());
      rank.communicator.reset();
    }
    ExpectElements(rank, kCount, kCount, [](uint64_t i) { return Element(0, i); });
  });
}

TEST_P(CommunicatorTest, KilledRankCancelsWaitingRanks) {
  if (ranks_are_threads()) GTEST_SKIP() << "the ranks are threads of one process";
  ExpectDeath();
  Run([this](Rank& rank) {
    if (rank.number == kRanks - 1) {
      AwaitText("waits");
      raise(SIGKILL);
    }
    EXPECT_OK(AllReduce(rank, 0, 4));
    Publish("waits", "");
    ExpectError(rank.stream->Synchronize(), absl::StatusCode::kCancelled, "rank 1");
    WriteElements(rank, 4);  // the device still works
    ExpectElements(rank, 0, 4, [](uint64_t i) { return Element(0, i); });
  });
}

TEST_P(CommunicatorTest, AbortEndsTheWorkOfAllRanks) {
  Run([this](Rank& rank) {
    if (rank.number == 1) AwaitText("aborted");
    EXPECT_OK(AllReduce(rank, 0, 4));
    if (rank.number == 0) rank.communicator->Abort("rank 0 ends the work");
    ExpectError(rank.stream->Synchronize(), absl::StatusCode::kCancelled, "rank 0");
    // A device server aborts after the call of Abort, so only the failure shows that it has.
    if (rank.number == 0) Publish("aborted", "");
  });
}

TEST_P(CommunicatorTest, AbandonedRankCancelsWaitingRanks) {
  Run([this](Rank& rank) {
    hal::CommunicatorOptions options = Options(rank, SharedId(rank, "second id"), kRanks + 1);  // one rank never joins
    int asked = 0;
    options.abandoned = [&] {
      // Rank 0 gives up when the other rank has been waiting for a while.
      if (++asked == 1 && rank.number == 1) Publish("waits", "");
      return rank.number == 0 && asked > 10;
    };
    if (rank.number == 0) AwaitText("waits");
    ExpectError(rank.device->CreateCommunicator(options).status(), absl::StatusCode::kCancelled,
                rank.number == 0 ? "rank 0 of 3" : "rank 0 of 3 disconnected");
  });
}

// The caller passes rank 0's memory to all ranks, like a device server.
TEST_P(CommunicatorTest, RendezvousOfSeveralProcesses) {
  Run([this](Rank& rank) {
    hal::CommunicatorOptions options = Options(rank, "", kRanks);
    options.rendezvous = [&](int own) -> absl::StatusOr<int> {
      if (rank.number == 0) {
        Publish("segment", absl::StrCat("/proc/", getpid(), "/fd/", own));
        AwaitText("opened");
        return dup(own);
      }
      const int file = open(AwaitText("segment").c_str(), O_RDWR | O_CLOEXEC);
      Publish("opened", "");
      return file;
    };
    rank.communicator = Value(rank.device->CreateCommunicator(options));
    ASSERT_NE(nullptr, rank.communicator);
    WriteElements(rank, kCount);
    EXPECT_OK(AllReduce(rank, 0, kCount));
    ExpectElements(rank, 0, kCount, Sum);
    if (rank.number == 1) {
      rank.communicator->Abort("rank 1 has gone");
      Publish("aborted", "");
      return;
    }
    AwaitText("aborted");
    EXPECT_OK(AllReduce(rank, 0, kCount));
    ExpectError(rank.stream->Synchronize(), absl::StatusCode::kCancelled, "rank 1 has gone");
  });
}

TEST_P(CommunicatorTest, FailedRendezvousOfSeveralProcesses) {
  Run([](Rank& rank) {
    hal::CommunicatorOptions options = Options(rank, "", kRanks);
    options.rendezvous = [](int) { return absl::CancelledError("rank 1 has gone"); };
    ExpectError(rank.device->CreateCommunicator(options).status(), absl::StatusCode::kCancelled, "rank 1 has gone");
    options.rendezvous = [](int) { return open("/dev/null", O_RDWR | O_CLOEXEC); };
    ExpectError(rank.device->CreateCommunicator(options).status(), absl::StatusCode::kFailedPrecondition, "memory");
  });
}

TEST_P(CommunicatorTest, OperationsOnSeveralStreamsRunInCallOrder) {
  Run([](Rank& rank) {
    WriteElements(rank, kCount);
    const auto other = Value(rank.device->CreateStream(hal::StreamKind::kCompute));
    // The slow stream differs between the two ranks.
    hal::Stream& first = rank.number == 0 ? *rank.stream : *other;
    hal::Stream& second = rank.number == 0 ? *other : *rank.stream;
    for (int i = 0; i < 100; ++i) {
      EXPECT_OK(rank.communicator->AllReduce(first, rank.at(0), rank.at(kCount), kCount, kFloat, kSum));
      EXPECT_OK(rank.communicator->AllReduce(second, rank.at(0), rank.at(2 * kCount), 7, kFloat, hal::ReduceOp::kMax));
    }
    ASSERT_OK(other->Synchronize());
    ExpectElements(rank, kCount, kCount, Sum);
    ExpectElements(rank, 2 * kCount, 7, [](uint64_t i) { return Element(1, i); });
  });
}

TEST_P(CommunicatorTest, InvalidArgumentsFailImmediately) {
  Rank& rank = ranks_here()[0];
  hal::Communicator& one = *rank.communicator;
  hal::Stream& stream = *rank.stream;
  const hal::DeviceAddress address = rank.at(0);
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  ExpectError(one.Broadcast(stream, address, address, 4, kFloat, kRanks), kInvalid, "root of Broadcast is rank 2");
  ExpectError(one.Send(stream, address, 4, kFloat, rank.number), kInvalid, "itself");
  ExpectError(one.AllGather(stream, address, address + 1, uint64_t{1} << 40, kFloat), kInvalid);
  if (ranks_are_threads()) {
    ExpectError(one.AllReduce(*ranks_here()[1].stream, address, address, 4, kFloat, kSum), kInvalid, "another device");
  }
  ExpectError(one.EndGroup(), absl::StatusCode::kFailedPrecondition);
}

HPU_CTS_SUITE(CommunicatorTest);

}  // namespace communicator_test
}  // namespace hpu::cts
