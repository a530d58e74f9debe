// GaudiRecipe: a program compiled to a Synapse recipe.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_COMPILER_RECIPE_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_COMPILER_RECIPE_H_

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "plugin/backends/gaudi/plan/graph_plan.h"
#include "plugin/backends/gaudi/synapse/launch_table.h"
#include "plugin/backends/gaudi/synapse/library.h"
#include "plugin/hal/recipe.h"
#include "plugin/program/program_table.h"

namespace hpu::gaudi {

// A persistent tensor of a Synapse recipe, which a launch needs an address for.
struct LaunchTensor {
  std::string name;
  Sizes sizes;
  uint64_t bytes = 0;
  bool is_argument = false;
  int32_t number = 0;       // of the argument or result
  int32_t section_of = -1;  // of a result: the argument whose memory it has
};

// Tensors of a plan that have memory outside the graph.
std::vector<LaunchTensor> LaunchTensors(const GraphPlan& plan, const ProgramTable& table);

class GaudiRecipe final : public hal::Recipe {
 public:
  // Compiles for devices of `generation`. `target`: the devices' compiler_target. May take minutes.
  static absl::StatusOr<std::shared_ptr<const GaudiRecipe>> Compile(const synapse::Library& library,
                                                                    synapse::Generation generation,
                                                                    const std::string& target,
                                                                    const hal::Program& program);

  ~GaudiRecipe() override;

  const std::string& name() const override { return name_; }
  const std::vector<hal::TensorSpec>& arguments() const override { return table_.arguments; }
  const std::vector<hal::ResultSpec>& results() const override { return table_.results; }
  uint64_t workspace_bytes() const override { return workspace_bytes_; }
  absl::StatusOr<std::string> Serialize() const override;
  uint64_t serialized_bytes() const override { return 0; }

  const synapse::Library& library() const { return library_; }
  // Null if the program does nothing.
  synapse::synRecipeHandle handle() const { return recipe_.get(); }
  const std::vector<LaunchTensor>& tensors() const { return tensors_; }

  // A launch table with the recipe's tensors, in the order of tensors(), for one launch at a time. The recipe has one.
  // Concurrent launches make more. Thread safe.
  absl::StatusOr<std::unique_ptr<synapse::LaunchTable>> TakeTable() const;
  void ReturnTable(std::unique_ptr<synapse::LaunchTable> table) const;

 private:
  GaudiRecipe(std::string name, ProgramTable table, const synapse::Library& library);

  // Computes the workspace and a launch table of `recipe_` and `tensors_`.
  absl::Status PrepareLaunches();
  absl::StatusOr<std::unique_ptr<synapse::LaunchTable>> MakeTable() const;

  const std::string name_;
  const ProgramTable table_;
  const synapse::Library& library_;
  const pid_t process_;  // a forked child must not call SynapseAI
  std::vector<LaunchTensor> tensors_;
  synapse::OwnedRecipe recipe_;
  uint64_t workspace_bytes_ = 0;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<synapse::LaunchTable>> free_tables_;  // guarded by mutex_
};

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_COMPILER_RECIPE_H_
