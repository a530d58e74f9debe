// Recipes of the null backend: the argument and result tables, and no code.
#ifndef HPU_PLUGIN_BACKENDS_NULL_RECIPE_H_
#define HPU_PLUGIN_BACKENDS_NULL_RECIPE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "plugin/hal/recipe.h"
#include "plugin/program/program_table.h"

namespace hpu::null {

class NullRecipe final : public hal::Recipe {
 public:
  // Builds the table from the program's HLO. Checks only the parts of the HLO that the table needs.
  static absl::StatusOr<std::shared_ptr<const NullRecipe>> Compile(const hal::Program& program);
  static absl::StatusOr<std::shared_ptr<const NullRecipe>> Load(absl::string_view name, absl::string_view bytes);

  NullRecipe(std::string name, std::string hlo, ProgramTable table)
      : name_(std::move(name)), hlo_(std::move(hlo)), table_(std::move(table)) {}

  const std::string& name() const override { return name_; }
  const std::vector<hal::TensorSpec>& arguments() const override { return table_.arguments; }
  const std::vector<hal::ResultSpec>& results() const override { return table_.results; }
  // Not 0, so that callers allocate and pass a workspace as they would on a card.
  uint64_t workspace_bytes() const override { return 4096; }
  absl::StatusOr<std::string> Serialize() const override;
  uint64_t serialized_bytes() const override;

 private:
  const std::string name_;
  const std::string hlo_;
  const ProgramTable table_;
};

// DeviceInfo::compiler_target.
std::string CompilerTarget();

}  // namespace hpu::null

#endif  // HPU_PLUGIN_BACKENDS_NULL_RECIPE_H_
