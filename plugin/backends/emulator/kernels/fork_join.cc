#include "plugin/backends/emulator/kernels/fork_join.h"

#include <cstdint>

#include "plugin/backends/emulator/kernels/parallel.h"
#include "plugin/backends/emulator/kernels/recipe_kernels.h"

namespace hpu::emulator {
namespace {

// The signature of a loop's code. `bounds` holds the start and the end (exclusive) of each split dimension.
using Loop = void (*)(void* result, const void* options, const void** arguments, void** buffers, void* status,
                      int64_t* bounds, uint64_t* counters);

void ForkJoin(void* result, const void* options, const void** arguments, void** buffers, void* status,
              uint64_t* counters, int32_t parts, int64_t* bounds, int32_t dimensions, void* loop) {
  RunShards(RecipeKernels::Scope::Current()->pool, parts, 1, [&](Shard part) {
    // Loops call no function that sets the status.
    reinterpret_cast<Loop>(loop)(result, options, arguments, buffers, status, bounds + part.begin * 2 * dimensions,
                                 counters);
  });
}

}  // namespace

void* ForkJoinAddress() { return reinterpret_cast<void*>(&ForkJoin); }

}  // namespace hpu::emulator
