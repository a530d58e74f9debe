#include "plugin/backends/emulator/codegen/compiled_function.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "plugin/backends/emulator/codegen/recipe_code.h"
#include "plugin/base/status_macros.h"

namespace hpu::emulator {
namespace {

// Aligned copies of small operands. XLA aligns a constant to the constant's size, but functions expect each operand at
// the start of a cache line. The copies are kept between calls, so that a launch allocates nothing. Not thread safe.
class AlignedOperands {
 public:
  // Returns the operands; copies an operand in `small` that does not start a cache line.
  const void* const* Of(const void* const* operands, const ProgramTable& table, const std::vector<size_t>& small) {
    const bool aligned = std::all_of(small.begin(), small.end(), [&](size_t i) { return IsAligned(operands[i]); });
    if (aligned) return operands;
    operands_.assign(operands, operands + table.arguments.size());
    lines_.resize(std::max(lines_.size(), small.size()));
    for (size_t k = 0; k < small.size(); ++k) {
      const size_t i = small[k];
      if (IsAligned(operands[i])) continue;
      std::memcpy(lines_[k].bytes, operands[i], table.arguments[i].bytes);
      operands_[i] = lines_[k].bytes;
    }
    return operands_.data();
  }

 private:
  struct alignas(kWorkspaceAlignment) Line {
    char bytes[kWorkspaceAlignment];
  };

  static bool IsAligned(const void* operand) { return reinterpret_cast<uintptr_t>(operand) % kWorkspaceAlignment == 0; }

  std::vector<const void*> operands_;
  std::vector<Line> lines_;
};

}  // namespace

CompiledFunction::CompiledFunction(const FunctionParts& parts, void* entry) : parts_(parts), entry_(entry) {
  for (size_t i = 0; i < parts.table.arguments.size(); ++i) {
    if (parts.table.arguments[i].bytes < kWorkspaceAlignment) small_.push_back(i);
  }
}

absl::Status CompiledFunction::Run(const KernelCall& call) const {
  // A function does not call other functions, so one set of tables per thread suffices.
  thread_local CodeTables tables;
  thread_local AlignedOperands operands;
  const std::vector<hal::ResultSpec>& specs = parts_.table.results;
  HPU_RETURN_IF_ERROR(
      tables.Call(entry_, parts_.slots, specs.size(),
                  {operands.Of(call.operands, parts_.table, small_), call.results, call.workspace, call.pool}));
  for (size_t i = 0; i < specs.size(); ++i) {
    if (tables.produced()[i] != call.results[i]) {
      std::memmove(call.results[i], tables.produced()[i], specs[i].spec.bytes);
    }
  }
  return absl::OkStatus();
}

}  // namespace hpu::emulator
