// Parallel loops over the pool.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_PARALLEL_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_PARALLEL_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "plugin/backends/emulator/threads/compute_pool.h"

namespace hpu::emulator {

struct Shard {
  int64_t begin;
  int64_t end;
};

// Cuts [0, total) into pieces of `each`, the last one shorter, and runs them on the calling thread and the pool;
// returns when all are done. Any thread may run any piece, so pieces must not depend on each other.
void RunShards(ComputePool& pool, int64_t total, int64_t each, absl::FunctionRef<void(Shard)> body);

// A size for RunShards at which a piece takes at least about 20 µs, if one element causes `bytes` of memory traffic.
int64_t ShardSize(int64_t bytes);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_PARALLEL_H_
