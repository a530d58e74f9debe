#include "plugin/backends/null/recipe.h"

#include "plugin/base/status_macros.h"
#include "plugin/program/recipe_container.h"

namespace hpu::null {
namespace {

constexpr absl::string_view kKind = "null";
// Not 0, so that callers allocate and pass a workspace as on a card.
constexpr uint64_t kWorkspaceBytes = 4096;

}  // namespace

std::string CompilerTarget() { return "null-1"; }

absl::StatusOr<std::shared_ptr<const NullRecipe>> NullCompiler::Compile(const hal::Program& program) {
  HPU_ASSIGN_OR_RETURN(ProgramTable table, ParseProgramTable(program.name, program.hlo));
  RecipeContainer container;
  container.kind = std::string(kKind);
  container.target = CompilerTarget();
  container.table = table;
  container.workspace_bytes = kWorkspaceBytes;
  container.binaries = {program.hlo};  // in place of code, so that a recipe's size depends on the program
  return std::make_shared<const NullRecipe>(program.name, std::move(table), kWorkspaceBytes, container.Serialize());
}

absl::StatusOr<std::shared_ptr<const NullRecipe>> NullCompiler::Load(absl::string_view name, absl::string_view bytes) {
  HPU_ASSIGN_OR_RETURN(RecipeContainer container, RecipeContainer::Parse(name, bytes, kKind, CompilerTarget()));
  return std::make_shared<const NullRecipe>(std::string(name), std::move(container.table), container.workspace_bytes,
                                            std::string(bytes));
}

}  // namespace hpu::null
