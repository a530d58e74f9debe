#include "plugin/backends/emulator/codegen/object/fork_join.h"

#include "plugin/backends/emulator/kernels/parallel.h"
#include "plugin/backends/emulator/kernels/recipe_kernels.h"

namespace hpu::emulator {
namespace {

thread_local const LoopDriver* current_driver = nullptr;

void ForkJoin(void* result, const void* options, const void** arguments, void** buffers, void* status,
              uint64_t* counters, int32_t parts, int64_t* bounds, int32_t dimensions, void* loop) {
  const auto function = reinterpret_cast<LoopCode::Function>(loop);
  if (const LoopDriver* driver = LoopDriver::Current(); driver != nullptr) {
    driver->Drive({function, result, options, arguments, buffers, status, counters});
    return;
  }
  RunShards(RecipeKernels::Scope::Current()->pool, parts, 1, [&](Shard part) {
    // Loops call no function that sets the status.
    function(result, options, arguments, buffers, status, bounds + part.begin * 2 * dimensions, counters);
  });
}

}  // namespace

void* ForkJoinAddress() { return reinterpret_cast<void*>(&ForkJoin); }

void LoopCode::Run(void** table, int64_t begin, int64_t end) const {
  int64_t bounds[] = {begin, end};
  function(result, options, arguments, table, status, bounds, counters);
}

LoopDriver::LoopDriver(Run run) : run_(run) { current_driver = this; }
LoopDriver::~LoopDriver() { current_driver = nullptr; }
const LoopDriver* LoopDriver::Current() { return current_driver; }

}  // namespace hpu::emulator
