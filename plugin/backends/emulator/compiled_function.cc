#include "plugin/backends/emulator/compiled_function.h"

#include <cstring>

#include "plugin/backends/emulator/recipe_code.h"
#include "plugin/hal/status_macros.h"

namespace hpu::emulator {

absl::Status CompiledFunction::Run(const KernelCall& call) const {
  // Functions call no functions: one set of tables is enough.
  thread_local CodeTables tables;
  const std::vector<hal::ResultSpec>& specs = parts_.table.results;
  HPU_RETURN_IF_ERROR(
      tables.Call(entry_, parts_.slots, specs.size(), {call.operands, call.results, call.workspace, call.pool}));
  for (size_t i = 0; i < specs.size(); ++i) {
    if (tables.produced()[i] != call.results[i]) {
      std::memmove(call.results[i], tables.produced()[i], specs[i].spec.bytes);
    }
  }
  return absl::OkStatus();
}

}  // namespace hpu::emulator
