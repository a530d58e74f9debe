// NullRecipe and NullCompiler: recipes of the null backend, which contain tables of arguments and results but no code.
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
  // `serialized`: the result of Serialize.
  NullRecipe(std::string name, ProgramTable table, uint64_t workspace_bytes, std::string serialized)
      : name_(std::move(name)),
        table_(std::move(table)),
        workspace_bytes_(workspace_bytes),
        serialized_(std::move(serialized)) {}

  const std::string& name() const override { return name_; }
  const std::vector<hal::TensorSpec>& arguments() const override { return table_.arguments; }
  const std::vector<hal::ResultSpec>& results() const override { return table_.results; }
  uint64_t workspace_bytes() const override { return workspace_bytes_; }
  absl::StatusOr<std::string> Serialize() const override { return serialized_; }
  uint64_t serialized_bytes() const override { return serialized_.size(); }

 private:
  const std::string name_;
  const ProgramTable table_;
  const uint64_t workspace_bytes_;
  const std::string serialized_;
};

// Compiles and loads the recipes of a null device. Thread safe.
class Compiler {
 public:
  virtual ~Compiler() = default;

  // As hal::Device::Compile and hal::Device::LoadRecipe.
  virtual absl::StatusOr<std::shared_ptr<const NullRecipe>> Compile(const hal::Program& program) = 0;
  virtual absl::StatusOr<std::shared_ptr<const NullRecipe>> Load(absl::string_view name, absl::string_view bytes) = 0;
};

// Extracts only the tables of arguments and results. Checks only the parts of the HLO that the tables need.
class NullCompiler final : public Compiler {
 public:
  absl::StatusOr<std::shared_ptr<const NullRecipe>> Compile(const hal::Program& program) override;
  absl::StatusOr<std::shared_ptr<const NullRecipe>> Load(absl::string_view name, absl::string_view bytes) override;
};

// DeviceInfo::compiler_target of devices with a NullCompiler.
std::string CompilerTarget();

}  // namespace hpu::null

#endif  // HPU_PLUGIN_BACKENDS_NULL_RECIPE_H_
