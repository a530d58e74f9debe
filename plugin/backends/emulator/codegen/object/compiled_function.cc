#include "plugin/backends/emulator/codegen/object/compiled_function.h"

#include <cstring>

#include "plugin/backends/emulator/codegen/object/aligned_operands.h"
#include "plugin/backends/emulator/codegen/recipe_code.h"
#include "plugin/base/status_macros.h"

namespace hpu::emulator {
CompiledFunction::CompiledFunction(const FunctionParts& parts, void* entry) : parts_(parts), entry_(entry) {
  for (const hal::TensorSpec& argument : parts.table.arguments) operand_bytes_.push_back(argument.bytes);
}

absl::Status CompiledFunction::Run(const KernelCall& call) const {
  // A function does not call other functions, so one set of tables per thread suffices.
  thread_local CodeTables tables;
  thread_local AlignedOperands operands;
  const std::vector<hal::ResultSpec>& specs = parts_.table.results;
  HPU_RETURN_IF_ERROR(
      tables.Call(entry_, parts_.slots, specs.size(),
                  {operands.Of(call.operands, operand_bytes_), call.results, call.workspace, call.pool}));
  for (size_t i = 0; i < specs.size(); ++i) {
    if (tables.produced()[i] != call.results[i]) {
      std::memmove(call.results[i], tables.produced()[i], specs[i].spec.bytes);
    }
  }
  return absl::OkStatus();
}

}  // namespace hpu::emulator
