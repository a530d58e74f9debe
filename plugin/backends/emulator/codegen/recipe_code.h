// How the code that XLA's CPU compiler generates is called.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_RECIPE_CODE_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_RECIPE_CODE_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "plugin/backends/emulator/codegen/recipe_parts.h"
#include "plugin/backends/emulator/threads/compute_pool.h"

namespace hpu::emulator {

// The arrays of one call: one address per argument and result.
struct CodeCall {
  const void* const* arguments;
  void* const* results;
  void* workspace;  // as many bytes as the code's parts say
  ComputePool& pool;
};

// The tables of addresses that code reads and writes. Kept from call to call, so that a launch allocates nothing. Not
// thread safe.
class CodeTables {
 public:
  // Calls `entry`, the function of the object that `slots` belong to, which makes `results` arrays; `counters` is null
  // unless it is timed. Internal where a custom call fails.
  absl::Status Call(void* entry, const std::vector<BufferSlot>& slots, size_t results, const CodeCall& call,
                    int64_t* counters = nullptr);

  // Where that call left its results: at the addresses that it was given, save for two results of one value, an
  // argument handed through, an alias that was not taken.
  void* const* produced() const { return tables_.data(); }

 private:
  std::vector<void*> tables_;  // that of the results, that of the buffers
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_RECIPE_CODE_H_
