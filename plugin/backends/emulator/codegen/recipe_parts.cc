#include "plugin/backends/emulator/codegen/recipe_parts.h"

#include <algorithm>

namespace hpu::emulator {

uint64_t FunctionWorkspaceOffset(const RecipeParts& parts) { return AlignUp(parts.workspace_bytes); }

uint64_t WorkspaceBytes(const RecipeParts& parts) {
  uint64_t most = 0;
  for (const FunctionParts& function : parts.functions) most = std::max(most, function.workspace_bytes);
  return most == 0 ? parts.workspace_bytes : FunctionWorkspaceOffset(parts) + most;
}

}  // namespace hpu::emulator
