#include "plugin/backends/emulator/recipe.h"

#include "absl/strings/str_cat.h"

namespace hpu::emulator {

absl::StatusOr<std::shared_ptr<const EmulatorRecipe>> CompileRecipe(const hal::Program& program) {
  return absl::UnimplementedError(absl::StrCat("the emulator cannot compile ", program.name, " yet"));
}

absl::StatusOr<std::shared_ptr<const EmulatorRecipe>> LoadRecipe(absl::string_view name, absl::string_view) {
  return absl::UnimplementedError(absl::StrCat("the emulator cannot load ", name, " yet"));
}

std::string CompilerTarget() { return "none"; }

}  // namespace hpu::emulator
