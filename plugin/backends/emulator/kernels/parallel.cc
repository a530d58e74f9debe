#include "plugin/backends/emulator/kernels/parallel.h"

#include <algorithm>
#include <atomic>
#include <memory>

#include "absl/synchronization/notification.h"
#include "plugin/backends/common/spin.h"
#include "tsl/platform/threadpool.h"

namespace hpu::emulator {

void RunShards(ComputePool& pool, int64_t total, int64_t each, absl::FunctionRef<void(Shard)> body) {
  struct Progress {
    explicit Progress(int64_t shards) : unfinished(shards) {}
    std::atomic<int64_t> next{0};
    std::atomic<int64_t> unfinished;
    absl::Notification finished;
  };
  if (total <= each) {
    if (total > 0) body({0, total});
    return;
  }
  const int64_t shards = (total + each - 1) / each;
  const auto progress = std::make_shared<Progress>(shards);
  // `body` exists until all shards are finished. A thread that starts later finds no shard and does not touch `body`.
  const auto run = [=] {
    for (int64_t shard; (shard = progress->next.fetch_add(1, std::memory_order_relaxed)) < shards;) {
      body({shard * each, std::min(total, (shard + 1) * each)});
      if (progress->unfinished.fetch_sub(1, std::memory_order_acq_rel) == 1) progress->finished.Notify();
    }
  };
  // The calling thread also runs shards. It does not wait for a helper that has not started, because the helper may be
  // busy.
  const int64_t helpers = std::min<int64_t>(pool.threads(), shards) - 1;
  for (int64_t i = 0; i < helpers; ++i) pool.workers()->Schedule(run);
  run();
  if (!pool.finish_spin().Await([&] { return progress->finished.HasBeenNotified(); })) {
    progress->finished.WaitForNotification();
  }
}

int64_t ShardSize(int64_t bytes) {
  constexpr int64_t kShardBytes = 256 << 10;
  return std::max<int64_t>(1, kShardBytes / std::max<int64_t>(1, bytes));
}

}  // namespace hpu::emulator
