#include "plugin/backends/emulator/kernels/parallel.h"

#include <algorithm>
#include <atomic>

#include "tsl/platform/blocking_counter.h"
#include "tsl/platform/threadpool.h"

namespace hpu::emulator {

void RunShards(ComputePool& pool, int64_t total, int64_t each, absl::FunctionRef<void(Shard)> body) {
  const int64_t shards = (total + each - 1) / each;
  std::atomic<int64_t> next{0};
  const auto run = [&] {
    for (int64_t shard; (shard = next.fetch_add(1, std::memory_order_relaxed)) < shards;) {
      body({shard * each, std::min(total, (shard + 1) * each)});
    }
  };
  // The calling thread is one of those that run.
  const int helpers = static_cast<int>(std::min<int64_t>(pool.threads(), shards) - 1);
  tsl::BlockingCounter done(std::max(0, helpers));
  for (int i = 0; i < helpers; ++i) {
    pool.workers()->Schedule([&] {
      run();
      done.DecrementCount();
    });
  }
  run();
  done.Wait();
}

int64_t ShardSize(int64_t bytes) {
  constexpr int64_t kShardBytes = 256 << 10;
  return std::max<int64_t>(1, kShardBytes / std::max<int64_t>(1, bytes));
}

}  // namespace hpu::emulator
