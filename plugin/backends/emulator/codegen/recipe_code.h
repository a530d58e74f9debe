// Calling convention of the code that XLA's CPU compiler generates.
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
  void* workspace;  // CodeParts::workspace_bytes bytes
  ComputePool& pool;
};

// The address of a slot's buffer; null for kNone.
inline void* AddressOf(const BufferSlot& slot, const CodeCall& call, void** result_table) {
  switch (slot.source) {
    case BufferSlot::Source::kNone:
      return nullptr;
    case BufferSlot::Source::kArgument:
      return const_cast<void*>(call.arguments[slot.value]);
    case BufferSlot::Source::kResult:
      return call.results[slot.value];
    case BufferSlot::Source::kWorkspace:
      return static_cast<char*>(call.workspace) + slot.value;
    case BufferSlot::Source::kResultTable:
      return result_table;
  }
  return nullptr;
}

// Address tables that the code reads and writes. They are reused, so that not every call allocates. Not thread safe.
class CodeTables {
 public:
  // Calls the code of `entry`, an element of LoadedCode::entries. `slots`: the code's buffer table. `results`: number
  // of results. `counters` is null unless the code is timed. Fails with Internal if a custom call fails.
  absl::Status Call(void* entry, const std::vector<BufferSlot>& slots, size_t results, const CodeCall& call,
                    int64_t* counters = nullptr);

  // Addresses of the last call's results. They differ from CodeCall::results if two results are one value, if an
  // argument is a result, or if XLA did not use an alias.
  void* const* produced() const { return tables_.data(); }

 private:
  std::vector<void*> tables_;  // result table, then buffer table
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_RECIPE_CODE_H_
