// PjrtRecipe: recipe compiled by a PJRT plugin.
#ifndef HPU_PLUGIN_BACKENDS_PJRT_RECIPE_H_
#define HPU_PLUGIN_BACKENDS_PJRT_RECIPE_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "plugin/backends/pjrt/client/client.h"
#include "plugin/hal/recipe.h"
#include "plugin/program/program_table.h"

namespace hpu::pjrt {

class PjrtRecipe final : public hal::Recipe {
 public:
  // Compiles for `target`, the DeviceInfo::compiler_target of the client's device. May take minutes.
  static absl::StatusOr<std::shared_ptr<const PjrtRecipe>> Compile(const Client& client, const std::string& target,
                                                                   const hal::Program& program);
  // Inverse of Serialize; see hal::Device::LoadRecipe.
  static absl::StatusOr<std::shared_ptr<const PjrtRecipe>> Load(const Client& client, const std::string& target,
                                                                absl::string_view name, absl::string_view bytes);

  PjrtRecipe(std::string name, ProgramTable table, std::string serialized, std::shared_ptr<const Executable> executable)
      : name_(std::move(name)),
        table_(std::move(table)),
        serialized_(std::move(serialized)),
        executable_(std::move(executable)) {}

  const std::string& name() const override { return name_; }
  const std::vector<hal::TensorSpec>& arguments() const override { return table_.arguments; }
  const std::vector<hal::ResultSpec>& results() const override { return table_.results; }
  // Plugins allocate temporaries themselves.
  uint64_t workspace_bytes() const override { return 0; }
  absl::StatusOr<std::string> Serialize() const override;
  uint64_t serialized_bytes() const override { return serialized_.size(); }

  const Executable& executable() const { return *executable_; }

 private:
  const std::string name_;
  const ProgramTable table_;
  const std::string serialized_;  // empty if the plugin cannot serialise programs
  const std::shared_ptr<const Executable> executable_;
};

}  // namespace hpu::pjrt

#endif  // HPU_PLUGIN_BACKENDS_PJRT_RECIPE_H_
