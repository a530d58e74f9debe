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

// Splits [0, total) into shards of `each` elements, of which the last may be shorter. Runs the shards on the calling
// thread and the pool; returns when all shards have run. Any thread may run any shard, in any order.
void RunShards(ComputePool& pool, int64_t total, int64_t each, absl::FunctionRef<void(Shard)> body);

// A value of `each` at which a shard takes at least about 20 µs if one element causes `bytes` of memory traffic.
int64_t ShardSize(int64_t bytes);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_PARALLEL_H_
