// Tests of RunShards: every element is processed once, even while the pool is busy.
#include "plugin/backends/emulator/kernels/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "tsl/platform/threadpool.h"

namespace hpu::emulator {
namespace {

// Number of shards that contained each element.
std::vector<int> Visits(ComputePool& pool, int64_t total, int64_t each) {
  std::vector<std::atomic<int>> visits(total);
  RunShards(pool, total, each, [&](Shard shard) {
    EXPECT_LE(shard.end - shard.begin, each);
    for (int64_t i = shard.begin; i < shard.end; ++i) ++visits[i];
  });
  return {visits.begin(), visits.end()};
}

TEST(RunShardsTest, EachElementIsInOneShard) {
  for (const int threads : {1, 2, 5}) {
    ComputePool pool(threads);
    for (const int64_t total : {0, 1, 2, 7, 1000}) {
      for (const int64_t each : {1, 3, 1000}) {
        EXPECT_EQ(Visits(pool, total, each), std::vector<int>(total, 1)) << total << " by " << each;
      }
    }
  }
}

// Threads that are busy, or that the system wakes late, must not delay the call.
TEST(RunShardsTest, DoesNotWaitForThreadsWithoutAShard) {
  ComputePool pool(2);
  absl::Notification release, done;
  for (int i = 0; i < pool.threads(); ++i) {
    pool.workers()->Schedule([&] { release.WaitForNotification(); });
  }
  std::thread caller([&] {
    EXPECT_EQ(Visits(pool, 10, 1), std::vector<int>(10, 1));
    done.Notify();
  });
  EXPECT_TRUE(done.WaitForNotificationWithTimeout(absl::Seconds(20)));
  release.Notify();
  caller.join();
}

}  // namespace
}  // namespace hpu::emulator
