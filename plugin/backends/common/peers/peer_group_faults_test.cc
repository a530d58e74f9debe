// Tests of PeerGroup with ranks that are killed or that corrupt the segment.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <future>
#include <random>
#include <thread>
#include <vector>

#include "plugin/backends/common/peers/peer_group.h"
#include "plugin/backends/common/peers/peer_group_harness.h"
#include "plugin/hal/types.h"
#include "plugin/testing/cts/fixture.h"

namespace hpu::peers {
namespace {

using hal::DataType;
using hal::Elements;

constexpr std::chrono::seconds kHang{60};
constexpr uint64_t kCount = uint64_t{4} << 20;

// A process that runs one rank. The destructor kills the process.
class RankProcess {
 public:
  RankProcess(const files::SharedMemory& segment, int rank, int size, const std::function<bool(PeerGroup*)>& work)
      : pid_(fork()) {
    if (pid_ != 0) return;
    alarm(kHang.count());  // a hang ends the child by SIGALRM
    _exit(work(AttachTo(segment, rank, size).get()) ? 0 : 1);
  }
  ~RankProcess() {
    Kill();
    if (!waited_) waitpid(pid_, nullptr, 0);
  }
  RankProcess(const RankProcess&) = delete;
  RankProcess& operator=(const RankProcess&) = delete;

  void Kill() {
    if (!waited_) kill(pid_, SIGKILL);
  }
  // Waits for the process; returns whether its work succeeded.
  bool Succeeded() {
    int status = 0;
    waited_ = waitpid(pid_, &status, 0) == pid_;
    return waited_ && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

 private:
  const pid_t pid_;
  bool waited_ = false;
};

MappedCollective InPlaceAllReduce(char* data, uint64_t count = kCount) {
  MappedCollective collective;
  collective.source = collective.destination = data;
  collective.elements = Elements(count);
  collective.dtype = DataType::kFloat32;
  return collective;
}

void Fill(const GuardedMemory& memory, float value) {
  std::fill_n(reinterpret_cast<float*>(memory.data()), memory.bytes() / sizeof(float), value);
}

bool AllEqual(const GuardedMemory& memory, float value) {
  const auto* const data = reinterpret_cast<const float*>(memory.data());
  return std::all_of(data, data + memory.bytes() / sizeof(float), [&](float element) { return element == value; });
}

// Runs `work` on a thread. A hang ends the test program, because threads cannot be killed.
class Running {
 public:
  explicit Running(std::function<absl::Status()> work) : result_(std::async(std::launch::async, std::move(work))) {}
  absl::Status Wait() {
    if (result_.wait_for(kHang) == std::future_status::ready) return result_.get();
    fprintf(stderr, "a rank did not return within 60 s\n");
    abort();
  }

 private:
  std::future<absl::Status> result_;
};

TEST(PeerProcessTest, RanksAreProcesses) {
  constexpr int kSize = 3;
  const auto segment = cts::Value(PeerGroup::CreateSegment(kSize));
  const auto work = [](int rank) {
    return [rank](PeerGroup* group) {
      const GuardedMemory memory(kCount * sizeof(float)), received(kCount * sizeof(float));
      for (int round = 0; round < 3; ++round) {
        Fill(memory, rank + 1);
        if (!group->Run(InPlaceAllReduce(memory.data())).ok() || !AllEqual(memory, 6)) return false;
        Fill(memory, rank);
        const absl::Status status =
            group->Exchange({Transfer{true, (rank + 1) % kSize, memory.data(), kCount, DataType::kFloat32},
                             Transfer{false, (rank + kSize - 1) % kSize, received.data(), kCount, DataType::kFloat32}});
        if (!status.ok() || !AllEqual(received, (rank + kSize - 1) % kSize)) return false;
      }
      return true;
    };
  };
  RankProcess first(*segment, 0, kSize, work(0)), second(*segment, 1, kSize, work(1)),
      third(*segment, 2, kSize, work(2));
  EXPECT_TRUE(first.Succeeded());
  EXPECT_TRUE(second.Succeeded());
  EXPECT_TRUE(third.Succeeded());
}

// Kills rank 1 of 3, a process that repeats its work, after various delays. Aborts the communicator of the other ranks,
// which are threads, a little later. Calls `work` with (rank, group, memory of kCount floats).
void KillRankOne(const std::function<absl::Status(int, PeerGroup*, char*)>& work) {
  constexpr int kSize = 3;
  const GuardedMemory memories[kSize] = {GuardedMemory(kCount * sizeof(float)), GuardedMemory(kCount * sizeof(float)),
                                         GuardedMemory(kCount * sizeof(float))};
  for (int delay = 0; delay < 40; delay += 4) {
    RankGroups groups(kSize);
    std::atomic<bool> started{false};
    const auto repeat = [&](int rank, PeerGroup* group) {
      absl::Status status;
      while (status.ok()) {
        status = work(rank, group, memories[rank].data());
        started = true;
      }
      return status;
    };
    RankProcess victim(groups.segment(), 1, kSize, [&](PeerGroup* group) { return repeat(1, group).ok(); });
    Running first([&] { return repeat(0, &groups[0]); });
    Running third([&] { return repeat(2, &groups[2]); });
    while (!started) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(delay));
    victim.Kill();
    std::this_thread::sleep_for(std::chrono::milliseconds(delay % 3));
    groups[0].Abort("rank 1 has gone");
    groups[2].Abort("rank 1 has gone");
    cts::ExpectError(first.Wait(), absl::StatusCode::kCancelled, "rank 1 has gone");
    cts::ExpectError(third.Wait(), absl::StatusCode::kCancelled, "rank 1 has gone");
  }
}

TEST(PeerProcessTest, RankIsKilledInAnAllReduce) {
  KillRankOne([](int, PeerGroup* group, char* data) { return group->Run(InPlaceAllReduce(data)); });
}

TEST(PeerProcessTest, RankIsKilledInTransfers) {
  KillRankOne([](int rank, PeerGroup* group, char* data) {
    constexpr uint64_t kHalf = kCount / 2;
    return group->Exchange({Transfer{true, (rank + 1) % 3, data, kHalf, DataType::kFloat32},
                            Transfer{false, (rank + 2) % 3, data + kHalf * sizeof(float), kHalf, DataType::kFloat32}});
  });
}

TEST(PeerProcessTest, AbortReasonOutlivesTheRank) {
  RankGroups groups(2);
  RankProcess leaver(groups.segment(), 1, 2, [](PeerGroup* group) {
    group->Abort("rank 1 has left the communicator");
    return true;
  });
  const GuardedMemory memory(kCount * sizeof(float));
  Running stayer([&] { return groups[0].Run(InPlaceAllReduce(memory.data())); });
  EXPECT_TRUE(leaver.Succeeded());
  cts::ExpectError(stayer.Wait(), absl::StatusCode::kCancelled, "rank 1 has left the communicator");
}

// Writes random words to random positions of the segment until `stop`. Half of the writes hit the state of the ranks.
void Scribble(const files::SharedMemory& segment, uint32_t seed, const std::atomic<bool>& stop) {
  const auto mapping = MapAgain(segment);
  std::mt19937 random(seed);
  const uint64_t words = mapping->size() / sizeof(uint32_t);
  const uint64_t state_words = (4096 + 4 * sizeof(RankBlock) + 4 * sizeof(PairBlock)) / sizeof(uint32_t);
  while (!stop) {
    // Writes few words per round, so that ranks sometimes pass the first check.
    for (uint32_t i = 0, count = 1u << random() % 8; i < count; ++i) {
      const uint64_t at = random() % (random() % 2 == 0 ? words : state_words);
      const uint32_t value = random() % 2 == 0 ? random() % 5 : random();
      reinterpret_cast<std::atomic<uint32_t>*>(mapping->data())[at].store(value, std::memory_order_relaxed);
    }
    if (random() % 2 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 200));
  }
}

TEST(PeerProcessTest, CorruptedSegmentCrashesNoRank) {
  constexpr int kRounds = 300;
  constexpr uint64_t kBytes = uint64_t{1} << 20;
  std::mt19937 random(1);
  int ended_in_error = 0;
  for (int round = 0; round < kRounds; ++round) {
    RankGroups groups(2);
    std::atomic<bool> stop{false};
    std::thread scribbler([&, seed = random()] { Scribble(groups.segment(), seed, stop); });
    const auto kind = static_cast<MappedCollective::Kind>(random() % 4);
    const bool transfers = random() % 3 == 0;
    const auto rank = [&](int number) {
      const GuardedMemory source(2 * kBytes), destination(2 * kBytes);
      absl::Status status;
      for (int i = 0; i < 20 && status.ok(); ++i) {
        if (transfers) {
          const Elements elements(kBytes / sizeof(float), "[2,3]");
          status = groups[number].Exchange(
              {Transfer{true, 1 - number, source.data(), elements, DataType::kFloat32},
               Transfer{false, 1 - number, destination.data(), elements, DataType::kFloat32},
               Transfer{true, 1 - number, source.data() + kBytes, elements, DataType::kFloat32},
               Transfer{false, 1 - number, destination.data() + kBytes, elements, DataType::kFloat32}});
        } else {
          status = groups[number].Run(MappedCollective{kind, source.data(), destination.data(), kBytes / sizeof(float),
                                                       DataType::kFloat32, hal::ReduceOp::kAverage, 1});
        }
      }
      return status;
    };
    Running first([&] { return rank(0); });
    Running second([&] { return rank(1); });
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 20));
    for (int number : {0, 1}) groups[number].Abort("rank 2 has gone");
    const absl::Status statuses[] = {first.Wait(), second.Wait()};
    for (const absl::Status& status : statuses) {
      ended_in_error += status.ok() ? 0 : 1;
      EXPECT_TRUE(status.ok() || absl::IsCancelled(status) || absl::IsInternal(status) ||
                  absl::IsInvalidArgument(status))
          << status;
    }
    stop = true;
    scribbler.join();
  }
  EXPECT_GT(ended_in_error, kRounds / 2);
}

// Corrupts every word of the state, one at a time, before the ranks start.
TEST(PeerProcessTest, EveryStateWordMayBeCorrupted) {
  constexpr uint64_t kPageWords = 4096 / sizeof(uint32_t);
  constexpr uint64_t kRankWords = 2 * sizeof(RankBlock) / sizeof(uint32_t);
  constexpr uint64_t kPairWords = 4 * sizeof(PairBlock) / sizeof(uint32_t);
  static_assert(kRankWords <= kPageWords);
  std::vector<uint64_t> words = {0, 1};
  for (uint64_t i = 0; i < kRankWords; ++i) words.push_back(kPageWords + i);
  for (uint64_t i = 0; i < kPairWords; ++i) words.push_back(2 * kPageWords + i);
  const GuardedMemory memories[] = {GuardedMemory(64), GuardedMemory(64)};
  for (const uint32_t value : {1u, 257u, UINT32_MAX}) {
    for (const uint64_t word : words) {
      RankGroups groups(2);
      reinterpret_cast<std::atomic<uint32_t>*>(groups.segment().data())[word] = value;
      std::atomic<int> ended{0};
      const auto rank = [&](int number) {
        char* const data = memories[number].data();
        absl::Status status = groups[number].Run(InPlaceAllReduce(data, 16));
        status.Update(groups[number].Exchange({Transfer{true, 1 - number, data, 8, DataType::kFloat32},
                                               Transfer{false, 1 - number, data + 32, 8, DataType::kFloat32}}));
        ++ended;
        return status;
      };
      Running first([&] { return rank(0); });
      Running second([&] { return rank(1); });
      for (int i = 0; i < 100 && ended < 2; ++i) std::this_thread::sleep_for(std::chrono::microseconds(20));
      for (int number : {0, 1}) groups[number].Abort("rank 2 has gone");
      first.Wait().IgnoreError();
      second.Wait().IgnoreError();
    }
  }
}

}  // namespace
}  // namespace hpu::peers
