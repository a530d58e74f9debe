#include "plugin/backends/emulator/codegen/recipe_parts.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace hpu::emulator {
namespace {

// Whether the arrays of the function's program are rows, and its code needs no further memory.
bool IsRowFunction(const FunctionParts& function, const RowLoop& loop) {
  const auto is_row = [](uint64_t bytes) { return bytes > 0 && bytes % kRowLoopElements == 0; };
  for (size_t i = 0; i < loop.operands.size(); ++i) {
    const bool is_scalar = loop.operands[i] == RowLoop::Operand::kScalar;
    if (!is_scalar && !is_row(function.table.arguments[i].bytes)) return false;
  }
  return function.table.results.size() == 1 && is_row(function.table.results[0].spec.bytes) &&
         function.workspace_bytes == 0;
}

}  // namespace

uint64_t FunctionWorkspaceOffset(const RecipeParts& parts) { return AlignUp(parts.workspace_bytes); }

absl::Status ValidateRowLoops(const RecipeParts& parts) {
  for (const RowLoop& loop : parts.row_loops) {
    if (loop.function >= parts.functions.size()) {
      return absl::InvalidArgumentError(absl::StrCat("a row loop calls function ", loop.function,
                                                     ", but the recipe has ", parts.functions.size(), " functions"));
    }
    const FunctionParts& function = parts.functions[loop.function];
    if (!IsValid(loop, function.table.arguments.size()) || !IsRowFunction(function, loop)) {
      return absl::InvalidArgumentError(absl::StrCat("a row loop over ", loop.elements,
                                                     " elements does not match the operands, results or workspace ",
                                                     "of function ", loop.function));
    }
  }
  return absl::OkStatus();
}

uint64_t WorkspaceBytes(const RecipeParts& parts) {
  uint64_t max = 0;
  for (const FunctionParts& function : parts.functions) max = std::max(max, function.workspace_bytes);
  return max == 0 ? parts.workspace_bytes : FunctionWorkspaceOffset(parts) + max;
}

}  // namespace hpu::emulator
