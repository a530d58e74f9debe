// Tests of PeerGroup: collectives and transfers among threads, and errors on all ranks.
#include "plugin/backends/common/peers/peer_group.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/backends/common/peers/peer_group_harness.h"
#include "plugin/backends/common/peers/reduction.h"
#include "plugin/base/status_macros.h"
#include "plugin/hal/types.h"
#include "plugin/testing/cts/fixture.h"

namespace hpu::peers {
namespace {

using cts::ExpectError;
using hal::DataType;
using hal::Elements;
using hal::ReduceOp;
using Kind = MappedCollective::Kind;

// Random bytes that are small finite numbers in every type. Each rank has different bytes.
std::vector<char> Operand(uint64_t bytes, DataType dtype, int rank) {
  std::vector<char> data(bytes);
  const uint64_t element = hal::SizeOf(dtype);
  for (uint64_t i = 0; i < bytes; ++i) {
    const bool last = i % element == element - 1;  // exponent of a floating-point number
    data[i] = static_cast<char>((i * 7 + rank * 31 + i / 251) % (last ? 64 : 256));
  }
  return data;
}

struct Case {
  Kind kind;
  DataType dtype;
  ReduceOp op = ReduceOp::kSum;
  int root = 0;
};

// Expected contents of a rank's destination.
std::vector<char> Expected(const Case& c, uint64_t count, int rank, const std::vector<std::vector<char>>& sources) {
  const uint64_t bytes = count * hal::SizeOf(c.dtype);
  std::vector<char> result;
  switch (c.kind) {
    case Kind::kAllGather:
      for (const std::vector<char>& source : sources) result.insert(result.end(), source.begin(), source.end());
      return result;
    case Kind::kBroadcast:
      return sources[c.root];
    case Kind::kAllReduce:
    case Kind::kReduceScatter: {
      std::vector<const char*> data;
      for (const std::vector<char>& source : sources) {
        data.push_back(source.data() + (c.kind == Kind::kReduceScatter ? rank * bytes : 0));
      }
      result.resize(bytes);
      Reduce(c.dtype, c.op, data, count, {result.data()});
      return result;
    }
  }
  return result;
}

// Runs an operation on all ranks and compares each destination. `in_place`: source and destination overlap in the way
// that NCCL allows.
void RunCase(RankGroups& groups, const Case& c, uint64_t count, bool in_place) {
  const uint64_t bytes = count * hal::SizeOf(c.dtype);
  const uint64_t source_bytes = c.kind == Kind::kReduceScatter ? bytes * groups.size() : bytes;
  const uint64_t destination_bytes = c.kind == Kind::kAllGather ? bytes * groups.size() : bytes;
  std::vector<std::vector<char>> sources;
  std::vector<GuardedMemory> from, to;
  std::vector<MappedCollective> collectives;
  for (int rank = 0; rank < groups.size(); ++rank) {
    sources.push_back(Operand(source_bytes, c.dtype, rank));
    from.emplace_back(in_place ? std::max(source_bytes, destination_bytes) : source_bytes);
    to.emplace_back(destination_bytes);
    MappedCollective collective;
    collective.kind = c.kind;
    collective.source = from[rank].data() + (in_place && c.kind == Kind::kAllGather ? rank * bytes : 0);
    collective.destination =
        in_place ? from[rank].data() + (c.kind == Kind::kReduceScatter ? rank * bytes : 0) : to[rank].data();
    collective.elements = Elements(count);
    collective.dtype = c.dtype;
    collective.op = c.op;
    collective.root = c.root;
    if (source_bytes > 0) std::memcpy(const_cast<char*>(collective.source), sources[rank].data(), source_bytes);
    if (c.kind == Kind::kBroadcast && rank != c.root) collective.source = nullptr;
    collectives.push_back(collective);
  }
  for (const absl::Status& status : groups.Run([&](int rank) { return groups[rank].Run(collectives[rank]); })) {
    ASSERT_OK(status);
  }
  for (int rank = 0; rank < groups.size(); ++rank) {
    const std::vector<char> expected = Expected(c, count, rank, sources);
    ASSERT_TRUE(destination_bytes == 0 ||
                std::memcmp(expected.data(), collectives[rank].destination, destination_bytes) == 0)
        << "rank " << rank << " of " << groups.size() << ", kind " << static_cast<int>(c.kind) << " of " << count << " "
        << hal::NameOf(c.dtype) << ", operation " << static_cast<int>(c.op) << ", in place " << in_place;
  }
}

// Element counts: 0, fewer than the ranks, not divisible by the number of ranks, several chunks, an exact number of
// chunks.
const uint64_t kCounts[] = {0, 1, 3, 5003, 65536, 150'001};

class PeerGroupTest : public testing::TestWithParam<int> {
 protected:
  RankGroups groups_{GetParam()};
};

TEST_P(PeerGroupTest, Reductions) {
  for (const Kind kind : {Kind::kAllReduce, Kind::kReduceScatter}) {
    for (const uint64_t count : kCounts) {
      for (const bool in_place : {false, true}) {
        RunCase(groups_, {kind, DataType::kFloat32}, count, in_place);
        RunCase(groups_, {kind, DataType::kBFloat16, ReduceOp::kAverage}, count, in_place);
      }
    }
    for (const DataType dtype : {DataType::kFloat64, DataType::kFloat16, DataType::kInt8, DataType::kInt16,
                                 DataType::kInt32, DataType::kInt64, DataType::kUInt8, DataType::kUInt16,
                                 DataType::kUInt32, DataType::kUInt64, DataType::kFloat32, DataType::kBFloat16}) {
      for (const ReduceOp op :
           {ReduceOp::kSum, ReduceOp::kProduct, ReduceOp::kMin, ReduceOp::kMax, ReduceOp::kAverage}) {
        RunCase(groups_, {kind, dtype, op}, 40'001, /*in_place=*/false);
      }
    }
  }
}

TEST_P(PeerGroupTest, GathersAndBroadcasts) {
  for (const DataType dtype : {DataType::kBool, DataType::kFloat32, DataType::kComplex128}) {
    for (const uint64_t count : kCounts) {
      for (const bool in_place : {false, true}) {
        RunCase(groups_, {Kind::kAllGather, dtype}, count, in_place);
        RunCase(groups_, {Kind::kBroadcast, dtype, ReduceOp::kSum, GetParam() - 1}, count, in_place);
        RunCase(groups_, {Kind::kBroadcast, dtype}, count, in_place);
      }
    }
  }
}

// Ranks leave an operation at different times, and the next operation reuses the memory. All ranks contribute the same
// value, which changes with each operation.
TEST_P(PeerGroupTest, OperationsWithoutAPause) {
  constexpr int kOperations = 1000;
  constexpr uint64_t kCount = 150'001;
  const auto statuses = groups_.Run([&](int rank) -> absl::Status {
    std::vector<float> source(kCount * groups_.size()), destination(kCount * groups_.size());
    for (int operation = 0; operation < kOperations; ++operation) {
      const uint64_t count = operation % 8 == 0 ? kCount : operation % 7 + 1;
      MappedCollective collective;
      collective.kind = static_cast<Kind>(operation / 3 % 4);
      collective.source = reinterpret_cast<const char*>(source.data());
      collective.destination = reinterpret_cast<char*>(destination.data());
      collective.elements = Elements(count);
      collective.dtype = DataType::kFloat32;
      collective.op = ReduceOp::kAverage;
      collective.root = operation % groups_.size();
      const auto value = static_cast<float>(operation);
      std::fill_n(source.begin(), count * (collective.kind == Kind::kReduceScatter ? groups_.size() : 1), value);
      HPU_RETURN_IF_ERROR(groups_[rank].Run(collective));
      const auto end = destination.begin() + count * (collective.kind == Kind::kAllGather ? groups_.size() : 1);
      const auto wrong = std::find_if(destination.begin(), end, [&](float element) { return element != value; });
      if (wrong != end) {
        groups_[rank].Abort("");  // so that the other ranks do not wait for this rank
        return absl::DataLossError(
            absl::StrCat("element ", wrong - destination.begin(), " of operation ", operation, " is ", *wrong));
      }
    }
    return absl::OkStatus();
  });
  for (const absl::Status& status : statuses) EXPECT_OK(status);
}

TEST_P(PeerGroupTest, TransfersBetweenAllRanks) {
  for (const uint64_t count : kCounts) {
    const uint64_t bytes = count * sizeof(float);
    std::vector<GuardedMemory> from, to;
    for (int rank = 0; rank < groups_.size(); ++rank) {
      from.emplace_back(bytes * groups_.size());
      to.emplace_back(bytes * groups_.size());
      const std::vector<char> data = Operand(from[rank].bytes(), DataType::kFloat32, rank);
      if (!data.empty()) std::memcpy(from[rank].data(), data.data(), data.size());
    }
    const auto statuses = groups_.Run([&](int rank) {
      std::vector<Transfer> transfers;
      for (int peer = 0; peer < groups_.size(); ++peer) {
        if (peer == rank) continue;
        transfers.push_back({true, peer, from[rank].data() + peer * bytes, count, DataType::kFloat32});
        transfers.push_back({false, peer, to[rank].data() + peer * bytes, count, DataType::kFloat32});
      }
      return groups_[rank].Exchange(transfers);
    });
    for (const absl::Status& status : statuses) ASSERT_OK(status);
    for (int rank = 0; rank < groups_.size(); ++rank) {
      for (int peer = 0; peer < groups_.size(); ++peer) {
        if (peer == rank) continue;
        ASSERT_EQ(0, std::memcmp(to[rank].data() + peer * bytes, from[peer].data() + rank * bytes, bytes))
            << "from rank " << peer << " to rank " << rank;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, PeerGroupTest, testing::Range(1, 6));

TEST(PeerTransferTest, SeveralBetweenTheSameRanksMatchInOrder) {
  RankGroups groups(2);
  constexpr uint64_t kCounts[] = {3, 200'000, 0, 70'000};
  std::vector<GuardedMemory> from, to;
  for (const uint64_t count : kCounts) {
    from.emplace_back(count);
    to.emplace_back(count);
    std::memset(from.back().data(), static_cast<int>(from.size()), count);
  }
  const auto statuses = groups.Run([&](int rank) {
    std::vector<Transfer> transfers;
    for (size_t i = 0; i < from.size(); ++i) {
      transfers.push_back(
          {rank == 0, 1 - rank, rank == 0 ? from[i].data() : to[i].data(), kCounts[i], DataType::kUInt8});
    }
    return groups[rank].Exchange(transfers);
  });
  for (const absl::Status& status : statuses) ASSERT_OK(status);
  for (size_t i = 0; i < from.size(); ++i) EXPECT_EQ(from[i].Contents(), to[i].Contents());
}

// Rank 1 sends only after it has received from rank 2, and rank 2 only after it has received from rank 0. No transfer
// may block another transfer of its group.
TEST(PeerTransferTest, LateTransfersOfAGroupDoNotBlockOtherTransfers) {
  RankGroups groups(3);
  constexpr uint64_t kCount = 1 << 20;
  std::vector<GuardedMemory> memory;
  for (int i = 0; i < 8; ++i) memory.emplace_back(kCount);
  const auto transfer = [&](bool sends, int peer, int i) {
    return Transfer{sends, peer, memory[i].data(), kCount, DataType::kUInt8};
  };
  const auto statuses = groups.Run([&](int rank) {
    if (rank == 0) {
      return groups[0].Exchange(
          {transfer(true, 1, 0), transfer(false, 1, 1), transfer(false, 2, 2), transfer(true, 2, 3)});
    }
    absl::Status status;
    if (rank == 1) {
      status.Update(groups[1].Exchange({transfer(false, 2, 4)}));
      status.Update(groups[1].Exchange({transfer(true, 0, 5)}));
      status.Update(groups[1].Exchange({transfer(false, 0, 5)}));
    } else {
      status.Update(groups[2].Exchange({transfer(false, 0, 6)}));
      status.Update(groups[2].Exchange({transfer(true, 1, 7)}));
      status.Update(groups[2].Exchange({transfer(true, 0, 7)}));
    }
    return status;
  });
  for (const absl::Status& status : statuses) EXPECT_OK(status);
}

TEST(PeerTransferTest, MismatchFailsOnSenderAndReceiverOnly) {
  RankGroups groups(3);
  std::vector<GuardedMemory> memory;
  for (int i = 0; i < 6; ++i) memory.emplace_back(24);
  const auto run = [&](const std::string& received) {
    return groups.Run([&](int rank) {
      const Elements sent(6, "[2,3]");
      if (rank == 0) {
        return groups[0].Exchange({Transfer{true, 1, memory[0].data(), sent, DataType::kFloat32},
                                   Transfer{true, 2, memory[1].data(), sent, DataType::kFloat32}});
      }
      const Elements elements(6, rank == 1 ? received : sent.shape);
      return groups[rank].Exchange({Transfer{false, 0, memory[2 + rank].data(), elements, DataType::kFloat32}});
    });
  };
  const std::vector<absl::Status> statuses = run("[3,2]");
  for (int rank = 0; rank < 2; ++rank) {
    ExpectError(statuses[rank], absl::StatusCode::kInvalidArgument,
                "rank 0 sends 6 elements of float32, shape [2,3], but rank 1 receives 6 elements of float32, shape "
                "[3,2]");
  }
  EXPECT_OK(statuses[2]);
  for (const absl::Status& status : run("[2,3]")) EXPECT_OK(status);
}

TEST(PeerTransferTest, SelfTransfersAreRefused) {
  RankGroups groups(2);
  for (const int peer : {0, 2, -1}) {
    ExpectError(groups[0].Exchange({Transfer{true, peer, nullptr, 0, DataType::kFloat32}}),
                absl::StatusCode::kInvalidArgument, absl::StrCat("rank ", peer));
  }
}

TEST(PeerErrorTest, DifferentCollectivesFailOnAllRanks) {
  RankGroups groups(3);
  std::vector<GuardedMemory> memory;
  for (int rank = 0; rank < 3; ++rank) memory.emplace_back(400'000);
  const auto run = [&](bool differ) {
    return groups.Run([&](int rank) {
      MappedCollective collective;
      collective.kind = differ && rank == 1 ? Kind::kBroadcast : Kind::kAllReduce;
      collective.source = collective.destination = memory[rank].data();
      collective.elements = Elements(differ ? 10 + rank * 1000 : 100'000, differ && rank == 2 ? "[5,402]" : "");
      collective.dtype = DataType::kFloat32;
      return groups[rank].Run(collective);
    });
  };
  for (int round = 0; round < 5; ++round) {
    for (const absl::Status& status : run(true)) {
      ExpectError(status, absl::StatusCode::kInvalidArgument,
                  "the 3 ranks of a communicator request different operations: rank 0: AllReduce(sum) of 10 elements "
                  "of float32; rank 1: Broadcast from rank 0 of 1010 elements of float32; rank 2: AllReduce(sum) of "
                  "2010 elements of float32, shape [5,402]; issue the same collectives in the same order on every "
                  "rank");
    }
    for (const absl::Status& status : run(false)) EXPECT_OK(status);
  }
}

// Compare checks that the ranks' collectives match, but moves no data.
TEST(PeerCompareTest, CollectivesAreComparedWithoutTheirData) {
  RankGroups groups(3);
  const auto compare = [&](int round, bool differ) {
    return groups.Run([&](int rank) {
      MappedCollective collective;
      collective.elements = Elements(differ ? 10 + rank : 10 + round);
      collective.dtype = DataType::kFloat32;
      return groups[rank].Compare(collective);
    });
  };
  for (int round = 0; round < 20; ++round) {
    for (const absl::Status& status : compare(round, false)) EXPECT_OK(status);
    for (const absl::Status& status : compare(round, true)) {
      ExpectError(status, absl::StatusCode::kInvalidArgument,
                  "rank 1: AllReduce(sum) of 11 elements of float32; rank 2: AllReduce(sum) of 12 elements");
    }
  }
  groups[2].Abort("rank 2 has gone");
  ExpectError(groups[0].Compare(MappedCollective()), absl::StatusCode::kCancelled, "rank 2 has gone");
}

TEST(PeerCompareTest, TransfersAreComparedWithoutTheirData) {
  RankGroups groups(2);
  for (int round = 0; round < 20; ++round) {
    const bool differ = round % 2 == 1;
    const auto statuses = groups.Run([&](int rank) {
      const Elements elements(uint64_t{1} << 40, differ && rank == 1 ? "[2]" : "[3]");
      return groups[rank].Exchange({Transfer{true, 1 - rank, nullptr, elements, DataType::kFloat32},
                                    Transfer{false, 1 - rank, nullptr, elements, DataType::kFloat32}});
    });
    for (const absl::Status& status : statuses) {
      if (!differ) EXPECT_OK(status);
      if (differ) ExpectError(status, absl::StatusCode::kInvalidArgument, "shape [3]");
    }
  }
}

TEST(PeerErrorTest, FirstAbortReasonReachesAllRanks) {
  RankGroups groups(3);
  GuardedMemory memory(4);
  std::vector<absl::Status> statuses(2);
  std::thread collective([&] {
    MappedCollective collective;
    collective.source = collective.destination = memory.data();
    collective.elements = Elements(1);
    collective.dtype = DataType::kFloat32;
    statuses[0] = groups[0].Run(collective);
  });
  std::thread transfer(
      [&] { statuses[1] = groups[1].Exchange({Transfer{true, 2, memory.data(), 1, DataType::kFloat32}}); });
  groups[2].Abort("rank 2 has had enough");
  groups[0].Abort("too late");
  collective.join();
  transfer.join();
  for (const absl::Status& status : statuses) {
    ExpectError(status, absl::StatusCode::kCancelled, "rank 2 has had enough");
  }
  ExpectError(groups[2].Run(MappedCollective()), absl::StatusCode::kCancelled, "rank 2 has had enough");
}

TEST(PeerErrorTest, AbortWithoutReasonNamesTheRank) {
  RankGroups groups(2);
  groups[1].Abort("");
  ExpectError(groups[0].Check(), absl::StatusCode::kCancelled, "rank 1 has aborted the communicator");
  RankGroups others(2);
  others[1].Abort(std::string(10'000, 'x'));
  ExpectError(others[0].Check(), absl::StatusCode::kCancelled, std::string(ReasonRecord::kMaxBytes, 'x'));
}

TEST(PeerErrorTest, SegmentOfAnotherSizeIsRefused) {
  const auto segment = cts::Value(PeerGroup::CreateSegment(2));
  ExpectError(PeerGroup::Attach(MapAgain(*segment), 0, 3).status(), absl::StatusCode::kInvalidArgument, "3 ranks");
  ExpectError(PeerGroup::Attach(MapAgain(*segment), 2, 2).status(), absl::StatusCode::kInvalidArgument, "no rank 2");
  for (const int ranks : {-1, 0, 1025}) {
    ExpectError(PeerGroup::CreateSegment(ranks).status(), absl::StatusCode::kInvalidArgument, "1 to 1024");
  }
}

// A piece of the largest communicator holds an element for every rank.
TEST(PeerErrorTest, TheLargestCommunicatorWorks) {
  constexpr int kSize = PeerSegment::kMaxRanks;
  EXPECT_GE(PeerSegment(cts::Value(PeerGroup::CreateSegment(kSize)), kSize).piece_bytes(),
            kSize * hal::SizeOf(DataType::kComplex128));
}

}  // namespace
}  // namespace hpu::peers
