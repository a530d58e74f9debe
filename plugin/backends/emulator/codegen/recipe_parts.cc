#include "plugin/backends/emulator/codegen/recipe_parts.h"

#include <algorithm>

namespace hpu::emulator {

uint64_t FunctionWorkspaceOffset(const RecipeParts& parts) { return AlignUp(parts.workspace_bytes); }

uint64_t WorkspaceBytes(const RecipeParts& parts) {
  uint64_t max = 0;
  for (const FunctionParts& function : parts.functions) max = std::max(max, function.workspace_bytes);
  return max == 0 ? parts.workspace_bytes : FunctionWorkspaceOffset(parts) + max;
}

}  // namespace hpu::emulator
