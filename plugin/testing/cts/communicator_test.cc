// Tests of collective operations between two devices of one process.
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <future>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/testing/cts/fixture.h"

namespace hpu::cts {
namespace communicator_test {

constexpr int kRanks = 2;
constexpr uint64_t kCount = 5003;  // not divisible into equal rank shares or work blocks

// A device and its resources for a collective. Members are destroyed in reverse order.
struct Rank {
  std::unique_ptr<hal::Device> device;
  std::unique_ptr<hal::Memory> memory;
  std::unique_ptr<hal::HostBuffer> host;
  std::unique_ptr<hal::Stream> stream;
  std::unique_ptr<hal::Communicator> communicator;

  float* data() { return static_cast<float*>(host->data()); }
  hal::DeviceAddress at(uint64_t element) { return memory->address() + element * sizeof(float); }
  void Write(uint64_t count) { EXPECT_OK(stream->CopyToDevice(data(), at(0), count * sizeof(float))); }
  absl::Status Read(uint64_t first, uint64_t count) {
    EXPECT_OK(stream->CopyToHost(at(first), data(), count * sizeof(float)));
    return stream->Synchronize();
  }
};

class CommunicatorTest : public CtsTest {
 protected:
  void SetUp() override {
    CtsTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    ReleaseDevice();
    for (Rank& rank : ranks_) {
      rank.device = Value(Acquire());
      ASSERT_NE(nullptr, rank.device);
      rank.memory = Value(rank.device->AllocateMemory(4 * kRanks * kCount * sizeof(float)));
      rank.host = Value(rank.device->AllocateHost(4 * kRanks * kCount * sizeof(float)));
      rank.stream = Value(rank.device->CreateStream(hal::StreamKind::kCompute));
    }
    const std::string id = Value(ranks_[0].device->CreateCommunicatorId());
    std::vector<std::thread> threads;
    for (int r = 0; r < kRanks; ++r) {
      threads.emplace_back([this, r, id] {
        hal::CommunicatorOptions options;
        options.id = id;
        options.rank = r;
        options.size = kRanks;
        ranks_[r].communicator = Value(ranks_[r].device->CreateCommunicator(options));
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (Rank& rank : ranks_) ASSERT_NE(nullptr, rank.communicator);
  }

  // Source element i of rank r: small whole numbers, so that sums are exact.
  static float Element(int r, uint64_t i) { return static_cast<float>(r * 10 + i % 7); }
  static float Sum(uint64_t i) { return Element(0, i) + Element(1, i); }
  void WriteElements(uint64_t count) {
    for (int r = 0; r < kRanks; ++r) {
      for (uint64_t i = 0; i < count; ++i) ranks_[r].data()[i] = Element(r, i);
      ranks_[r].Write(count);
      ASSERT_OK(ranks_[r].stream->Synchronize());
    }
  }

  Rank ranks_[kRanks];
};

TEST_P(CommunicatorTest, AllReduceInPlaceAndOutOfPlace) {
  for (const uint64_t to : {uint64_t{0}, kCount}) {
    WriteElements(kCount);
    for (Rank& rank : ranks_) {
      EXPECT_OK(rank.communicator->AllReduce(*rank.stream, rank.at(0), rank.at(to), kCount, hal::DataType::kFloat32,
                                             hal::ReduceOp::kSum));
    }
    for (Rank& rank : ranks_) {
      ASSERT_OK(rank.Read(to, kCount));
      for (uint64_t i = 0; i < kCount; ++i) ASSERT_EQ(Sum(i), rank.data()[i]) << i;
    }
  }
}

TEST_P(CommunicatorTest, GatherScatterAndBroadcast) {
  WriteElements(kRanks * kCount);
  for (Rank& rank : ranks_) {
    hal::Communicator& all = *rank.communicator;
    EXPECT_OK(all.AllGather(*rank.stream, rank.at(0), rank.at(kRanks * kCount), kCount, hal::DataType::kFloat32));
  }
  for (Rank& rank : ranks_) {
    ASSERT_OK(rank.Read(kRanks * kCount, kRanks * kCount));
    for (uint64_t i = 0; i < kRanks * kCount; ++i) {
      ASSERT_EQ(Element(static_cast<int>(i / kCount), i % kCount), rank.data()[i]) << i;
    }
    EXPECT_OK(rank.communicator->ReduceScatter(*rank.stream, rank.at(0), rank.at(kRanks * kCount), kCount,
                                               hal::DataType::kFloat32, hal::ReduceOp::kMax));
  }
  for (int r = 0; r < kRanks; ++r) {
    ASSERT_OK(ranks_[r].Read(kRanks * kCount, kCount));
    for (uint64_t i = 0; i < kCount; ++i) ASSERT_EQ(Element(kRanks - 1, r * kCount + i), ranks_[r].data()[i]) << i;
    EXPECT_OK(ranks_[r].communicator->Broadcast(*ranks_[r].stream, r == 1 ? ranks_[r].at(0) : 0, ranks_[r].at(0),
                                                kCount, hal::DataType::kFloat32, 1));
  }
  for (Rank& rank : ranks_) {
    ASSERT_OK(rank.Read(0, kCount));
    for (uint64_t i = 0; i < kCount; ++i) ASSERT_EQ(Element(1, i), rank.data()[i]) << i;
  }
}

TEST_P(CommunicatorTest, TransfersOfAGroupStartTogether) {
  WriteElements(kCount);
  for (int r = 0; r < kRanks; ++r) {
    Rank& rank = ranks_[r];
    EXPECT_OK(rank.communicator->BeginGroup());
    EXPECT_OK(rank.communicator->Send(*rank.stream, rank.at(0), kCount, hal::DataType::kFloat32, (r + 1) % kRanks));
    EXPECT_OK(rank.communicator->Receive(*rank.stream, rank.at(kCount), kCount, hal::DataType::kFloat32,
                                         (r + kRanks - 1) % kRanks));
    EXPECT_OK(rank.communicator->EndGroup());
  }
  for (int r = 0; r < kRanks; ++r) {
    ASSERT_OK(ranks_[r].Read(kCount, kCount));
    for (uint64_t i = 0; i < kCount; ++i) ASSERT_EQ(Element((r + kRanks - 1) % kRanks, i), ranks_[r].data()[i]) << i;
  }
}

TEST_P(CommunicatorTest, DifferentSizesFailOnAllRanks) {
  for (int r = 0; r < kRanks; ++r) {
    EXPECT_OK(ranks_[r].communicator->AllReduce(*ranks_[r].stream, ranks_[r].at(0), ranks_[r].at(0), 10 + r,
                                                hal::DataType::kFloat32, hal::ReduceOp::kSum));
  }
  for (Rank& rank : ranks_) {
    const absl::Status status = rank.stream->Synchronize();
    for (int r = 0; r < kRanks; ++r) {
      ExpectError(status, absl::StatusCode::kInvalidArgument,
                  absl::StrCat("rank ", r, ": AllReduce(sum) of ", 10 + r, " elements of float32"));
    }
  }
  WriteElements(4);  // the communicator still works
  for (Rank& rank : ranks_) {
    EXPECT_OK(rank.communicator->AllReduce(*rank.stream, rank.at(0), rank.at(0), 4, hal::DataType::kFloat32,
                                           hal::ReduceOp::kSum));
  }
  for (Rank& rank : ranks_) {
    ASSERT_OK(rank.Read(0, 4));
    EXPECT_EQ(Sum(3), rank.data()[3]);
  }
}

TEST_P(CommunicatorTest, DifferentShapesFailOnAllRanks) {
  const std::string shapes[] = {"[2,3]", "[3,2]"};
  for (int r = 0; r < kRanks; ++r) {
    EXPECT_OK(ranks_[r].communicator->AllReduce(*ranks_[r].stream, ranks_[r].at(0), ranks_[r].at(0),
                                                hal::Elements(6, shapes[r]), hal::DataType::kFloat32,
                                                hal::ReduceOp::kSum));
  }
  for (Rank& rank : ranks_) {
    const absl::Status status = rank.stream->Synchronize();
    for (int r = 0; r < kRanks; ++r) {
      ExpectError(status, absl::StatusCode::kInvalidArgument,
                  absl::StrCat("rank ", r, ": AllReduce(sum) of 6 elements of float32, shape ", shapes[r]));
    }
  }
  for (int r = 0; r < kRanks; ++r) {
    EXPECT_OK(ranks_[r].communicator->BeginGroup());
    EXPECT_OK(ranks_[r].communicator->Send(*ranks_[r].stream, ranks_[r].at(0), hal::Elements(6, shapes[r]),
                                           hal::DataType::kFloat32, 1 - r));
    EXPECT_OK(ranks_[r].communicator->Receive(*ranks_[r].stream, ranks_[r].at(6), hal::Elements(6, shapes[r]),
                                              hal::DataType::kFloat32, 1 - r));
    EXPECT_OK(ranks_[r].communicator->EndGroup());
  }
  for (Rank& rank : ranks_) {
    ExpectError(rank.stream->Synchronize(), absl::StatusCode::kInvalidArgument, "6 elements of float32, shape [2,3]");
  }
}

TEST_P(CommunicatorTest, DestroyedRankCancelsWaitingRanks) {
  for (int r = 0; r < kRanks - 1; ++r) {
    EXPECT_OK(ranks_[r].communicator->AllReduce(*ranks_[r].stream, ranks_[r].at(0), ranks_[r].at(0), 4,
                                                hal::DataType::kFloat32, hal::ReduceOp::kSum));
  }
  ranks_[kRanks - 1].communicator.reset();
  for (int r = 0; r < kRanks - 1; ++r) {
    ExpectError(ranks_[r].stream->Synchronize(), absl::StatusCode::kCancelled, "rank 1");
  }
}

TEST_P(CommunicatorTest, AbandonedRankCancelsWaitingRanks) {
  const std::string id = Value(ranks_[0].device->CreateCommunicatorId());
  const auto join = [&](int r, std::function<bool()> abandoned) {
    hal::CommunicatorOptions options;
    options.id = id;
    options.rank = r;
    options.size = kRanks + 1;  // one rank never joins
    options.abandoned = std::move(abandoned);
    return ranks_[r].device->CreateCommunicator(options).status();
  };
  std::atomic<bool> waits{false};
  std::atomic<bool> over{false};
  absl::Status left;
  std::thread other([&] {
    left = join(1, [&] {
      waits = true;
      return false;
    });
    over = true;
  });
  while (!waits && !over) std::this_thread::yield();
  int asked = 0;  // waits until the server has registered both ranks
  ExpectError(join(0, [&] { return ++asked > 10; }), absl::StatusCode::kCancelled, "rank 0 of 3");
  other.join();
  ExpectError(left, absl::StatusCode::kCancelled, "rank 0 of 3 disconnected");
}

// The caller passes rank 0's memory to all ranks, like a device server.
TEST_P(CommunicatorTest, RendezvousOfSeveralProcesses) {
  std::promise<int> first;
  const std::shared_future<int> segment = first.get_future().share();
  std::vector<std::thread> threads;
  for (int r = 0; r < kRanks; ++r) {
    threads.emplace_back([&, r] {
      hal::CommunicatorOptions options;
      options.rank = r;
      options.size = kRanks;
      options.rendezvous = [&](int own) -> absl::StatusOr<int> {
        if (r == 0) first.set_value(dup(own));
        return dup(segment.get());
      };
      ranks_[r].communicator = Value(ranks_[r].device->CreateCommunicator(options));
    });
  }
  for (std::thread& thread : threads) thread.join();
  close(segment.get());
  WriteElements(kCount);
  for (Rank& rank : ranks_) {
    ASSERT_NE(nullptr, rank.communicator);
    EXPECT_OK(rank.communicator->AllReduce(*rank.stream, rank.at(0), rank.at(0), kCount, hal::DataType::kFloat32,
                                           hal::ReduceOp::kSum));
  }
  for (Rank& rank : ranks_) {
    ASSERT_OK(rank.Read(0, kCount));
    for (uint64_t i = 0; i < kCount; ++i) ASSERT_EQ(Sum(i), rank.data()[i]) << i;
  }
  ranks_[1].communicator->Abort("rank 1 has gone");
  EXPECT_OK(ranks_[0].communicator->AllReduce(*ranks_[0].stream, ranks_[0].at(0), ranks_[0].at(0), kCount,
                                              hal::DataType::kFloat32, hal::ReduceOp::kSum));
  ExpectError(ranks_[0].stream->Synchronize(), absl::StatusCode::kCancelled, "rank 1 has gone");
}

TEST_P(CommunicatorTest, FailedRendezvousOfSeveralProcesses) {
  hal::CommunicatorOptions options;
  options.size = kRanks;
  options.rendezvous = [](int) { return absl::CancelledError("rank 1 has gone"); };
  ExpectError(ranks_[0].device->CreateCommunicator(options).status(), absl::StatusCode::kCancelled, "rank 1 has gone");
  options.rendezvous = [](int) { return open("/dev/null", O_RDWR | O_CLOEXEC); };
  ExpectError(ranks_[0].device->CreateCommunicator(options).status(), absl::StatusCode::kFailedPrecondition, "memory");
}

TEST_P(CommunicatorTest, OperationsOnSeveralStreamsRunInCallOrder) {
  WriteElements(kCount);
  std::unique_ptr<hal::Stream> others[kRanks];
  for (int r = 0; r < kRanks; ++r) {
    Rank& rank = ranks_[r];
    others[r] = Value(rank.device->CreateStream(hal::StreamKind::kCompute));
    // The slow stream differs between the two ranks.
    hal::Stream& first = r == 0 ? *rank.stream : *others[r];
    hal::Stream& second = r == 0 ? *others[r] : *rank.stream;
    for (int i = 0; i < 100; ++i) {
      EXPECT_OK(rank.communicator->AllReduce(first, rank.at(0), rank.at(kCount), kCount, hal::DataType::kFloat32,
                                             hal::ReduceOp::kSum));
      EXPECT_OK(rank.communicator->AllReduce(second, rank.at(0), rank.at(2 * kCount), 7, hal::DataType::kFloat32,
                                             hal::ReduceOp::kMax));
    }
  }
  for (int r = 0; r < kRanks; ++r) {
    ASSERT_OK(others[r]->Synchronize());
    ASSERT_OK(ranks_[r].Read(kCount, kCount));
    for (uint64_t i = 0; i < kCount; ++i) ASSERT_EQ(Sum(i), ranks_[r].data()[i]) << i;
  }
}

TEST_P(CommunicatorTest, InvalidArgumentsFailImmediately) {
  hal::Communicator& one = *ranks_[0].communicator;
  hal::Stream& stream = *ranks_[0].stream;
  const hal::DeviceAddress address = ranks_[0].at(0);
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  ExpectError(one.Broadcast(stream, address, address, 4, hal::DataType::kFloat32, kRanks), kInvalid,
              "root of Broadcast is rank 2");
  ExpectError(one.Send(stream, address, 4, hal::DataType::kFloat32, 0), kInvalid, "itself");
  ExpectError(one.AllGather(stream, address, address + 1, uint64_t{1} << 40, hal::DataType::kFloat32), kInvalid);
  ExpectError(one.AllReduce(*ranks_[1].stream, address, address, 4, hal::DataType::kFloat32, hal::ReduceOp::kSum),
              kInvalid, "another device");
  ExpectError(one.EndGroup(), absl::StatusCode::kFailedPrecondition);
}

HPU_CTS_SUITE(CommunicatorTest);

}  // namespace communicator_test
}  // namespace hpu::cts
