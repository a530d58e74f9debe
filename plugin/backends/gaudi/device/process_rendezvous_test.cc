#include "plugin/backends/gaudi/device/process_rendezvous.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <cstring>
#include <functional>
#include <memory>
#include <thread>

#include "plugin/testing/gaudi_double.h"

namespace hpu::gaudi {
namespace {

constexpr int kSize = 3;
constexpr uint64_t kBytes = 4096;

using Joined = absl::StatusOr<std::unique_ptr<ProcessRendezvous>>;

class ProcessRendezvousTest : public testing::Test {
 protected:
  Joined Join(int rank, int size = kSize, std::function<bool()> abandoned = nullptr) {
    hal::CommunicatorOptions options;
    options.id = id_;
    options.rank = rank;
    options.size = size;
    options.abandoned = std::move(abandoned);
    return ProcessRendezvous::Join(options, rank == 0 ? segment_.get() : nullptr);
  }

  const std::string id_ = ProcessRendezvous::NewId();
  const std::unique_ptr<files::SharedMemory> segment_ = *files::SharedMemory::Create(kBytes);
};

TEST_F(ProcessRendezvousTest, RanksShareTheMemoryOfRank0AndSeeEachOthersEnd) {
  Joined joined[kSize] = {absl::UnknownError(""), absl::UnknownError(""), absl::UnknownError("")};
  std::vector<std::thread> threads;
  for (int rank = 0; rank < kSize; ++rank) {
    threads.emplace_back([&, rank] { joined[rank] = Join(rank); });
  }
  for (std::thread& thread : threads) thread.join();
  std::strcpy(segment_->data(), "rank 0's");
  for (int rank = 1; rank < kSize; ++rank) {
    ASSERT_TRUE(joined[rank].ok()) << joined[rank].status();
    const auto memory = files::SharedMemory::Open((*joined[rank])->TakeSegment(), kBytes);
    ASSERT_TRUE(memory.ok()) << memory.status();
    EXPECT_STREQ((*memory)->data(), "rank 0's");
  }
  ASSERT_TRUE(joined[0].ok()) << joined[0].status();
  ASSERT_EQ((*joined[0])->peers().size(), 2u);
  joined[2] = absl::UnknownError("");  // closes its connection
  for (const ProcessRendezvous::Peer& peer : (*joined[0])->peers()) {
    pollfd polled = {peer.socket.get(), POLLIN, 0};
    EXPECT_EQ(poll(&polled, 1, peer.rank == 2 ? 10'000 : 0), peer.rank == 2 ? 1 : 0) << peer.rank;
  }
}

TEST_F(ProcessRendezvousTest, WrongRanksAndSizesAreRefusedWithoutHarmToTheOthers) {
  Joined first = absl::UnknownError("");
  Joined second = absl::UnknownError("");
  std::thread rank0([&] { first = Join(0, 2); });
  ExpectError(Join(1, 3).status(), absl::StatusCode::kInvalidArgument, "rank 0 created it with 2 ranks");
  ExpectError(Join(2, 2).status(), absl::StatusCode::kInvalidArgument,
              "rank 2 cannot join this communicator: expected ranks 1 to 1");
  ExpectError(Join(0, 2).status(), absl::StatusCode::kInvalidArgument, "rank 0 has already joined");
  second = Join(1, 2);
  rank0.join();
  EXPECT_TRUE(first.ok()) << first.status();
  EXPECT_TRUE(second.ok()) << second.status();
}

TEST_F(ProcessRendezvousTest, AbandonedRanksCancelTheOthers) {
  for (const int leaver : {0, 1}) {
    std::atomic<bool> waits{false};
    Joined other = absl::UnknownError("");
    std::thread thread([&] {
      other = Join(1 - leaver, kSize, [&] {
        waits = true;
        return false;
      });
    });
    while (!waits) std::this_thread::yield();
    int asked = 0;  // enough calls for rank 0 to admit rank 1
    ExpectError(Join(leaver, kSize, [&] { return ++asked > 10; }).status(), absl::StatusCode::kCancelled,
                absl::StrCat("rank ", leaver, " of 3"));
    thread.join();
    ExpectError(other.status(), absl::StatusCode::kCancelled, absl::StrCat("rank ", leaver, " of 3 disconnected"));
  }
}

TEST_F(ProcessRendezvousTest, IdsOfOtherMachinesAreRefused) {
  hal::CommunicatorOptions options;
  options.size = 2;
  options.rank = 1;
  for (const char* id : {"", "x", "another machine:0123", ":", "a:b:c"}) {
    options.id = id;
    ExpectError(ProcessRendezvous::Join(options, nullptr).status(), absl::StatusCode::kInvalidArgument,
                "not an id of this machine");
  }
  EXPECT_LT(id_.size(), 256u);
  EXPECT_NE(id_, ProcessRendezvous::NewId());
  EXPECT_EQ(id_.substr(0, id_.find(':')), ProcessRendezvous::NewId().substr(0, id_.find(':')));
}

}  // namespace
}  // namespace hpu::gaudi
