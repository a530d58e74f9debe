#include "plugin/backends/gaudi/device/rank_watch.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "plugin/testing/gaudi_double.h"

namespace hpu::gaudi {
namespace {

constexpr int kTwo = 2;

std::unique_ptr<peers::PeerGroup> NewGroup() {
  return *peers::PeerGroup::Attach(*peers::PeerGroup::CreateSegment(kTwo), 0, kTwo);
}

// Waits up to a minute.
template <typename Condition>
bool Await(const Condition& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!condition() && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return condition();
}

TEST(RankWatchTest, WorkIsEndedOnceAfterTheGroupHasBeenAborted) {
  const auto group = NewGroup();
  std::atomic<int> calls{0};
  {
    const RankWatch watch(*group, nullptr, [&] { ++calls; });
    EXPECT_EQ(calls, 0);
    group->Abort("rank 1 has gone");
    EXPECT_TRUE(Await([&] { return calls == 1; }));
  }
  EXPECT_EQ(calls, 1);
}

TEST(RankWatchTest, NothingIsEndedWhileTheRanksLive) {
  const auto group = NewGroup();
  bool is_called = false;
  {
    const RankWatch watch(*group, nullptr, [&] { is_called = true; });
  }
  EXPECT_FALSE(is_called);
  EXPECT_TRUE(group->Check().ok());
}

TEST(RankWatchTest, EndOfAConnectionAbortsTheGroupAndNamesTheRank) {
  hal::CommunicatorOptions options;
  options.id = ProcessRendezvous::NewId();
  options.size = kTwo;
  const auto segment = *files::SharedMemory::Create(4096);
  std::unique_ptr<ProcessRendezvous> other;
  std::thread rank1([&, options]() mutable {
    options.rank = 1;
    other = *ProcessRendezvous::Join(options, nullptr);
  });
  auto own = *ProcessRendezvous::Join(options, segment.get());
  rank1.join();
  const auto group = NewGroup();
  const RankWatch watch(*group, std::move(own), [] {});
  EXPECT_TRUE(group->Check().ok());
  other.reset();
  EXPECT_TRUE(Await([&] { return !group->Check().ok(); }));
  ExpectError(group->Check(), absl::StatusCode::kCancelled, "rank 1 has left the communicator");
}

}  // namespace
}  // namespace hpu::gaudi
