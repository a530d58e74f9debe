// Tests of split loops: every part runs once, with its own bounds, even while the pool is busy.
#include "plugin/backends/emulator/codegen/object/fork_join.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/notification.h"
#include "plugin/backends/emulator/codegen/object/runtime_symbols.h"
#include "plugin/backends/emulator/kernels/recipe_kernels.h"
#include "tsl/platform/threadpool.h"

namespace hpu::emulator {
namespace {

using ForkJoin = void (*)(void* result, const void* options, const void** arguments, void** buffers, void* status,
                          uint64_t* counters, int32_t parts, int64_t* bounds, int32_t dimensions, void* loop);

// Adds one to each element of a matrix of four columns within the bounds.
void AddOne(void* result, const void*, const void**, void**, void*, int64_t* bounds, uint64_t*) {
  for (int64_t row = bounds[0]; row < bounds[1]; ++row) {
    for (int64_t column = bounds[2]; column < bounds[3]; ++column) ++static_cast<int*>(result)[4 * row + column];
  }
}

TEST(ForkJoinTest, RunsEachPartOnce) {
  ComputePool pool(2);
  const RecipeKernels none;
  const RecipeKernels::Scope scope(none, pool, nullptr);
  absl::Notification release;
  absl::BlockingCounter busy(pool.threads());
  for (int i = 0; i < pool.threads(); ++i) {
    pool.workers()->Schedule([&] {
      busy.DecrementCount();
      release.WaitForNotification();
    });
  }
  busy.Wait();
  int64_t bounds[] = {0, 2, 0, 4, 2, 3, 0, 2, 2, 3, 2, 4};
  std::vector<int> matrix(12);
  const auto run = reinterpret_cast<ForkJoin>(FindRuntimeSymbol(kForkJoinSymbol));
  ASSERT_EQ(reinterpret_cast<void*>(run), ForkJoinAddress());
  run(matrix.data(), nullptr, nullptr, nullptr, nullptr, nullptr, 3, bounds, 2, reinterpret_cast<void*>(&AddOne));
  EXPECT_EQ(matrix, std::vector<int>(12, 1));
  release.Notify();
}

}  // namespace
}  // namespace hpu::emulator
