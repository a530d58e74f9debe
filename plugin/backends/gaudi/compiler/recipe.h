// GaudiRecipe: a program compiled to a Synapse recipe.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_COMPILER_RECIPE_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_COMPILER_RECIPE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "plugin/backends/gaudi/compiler/compiled_graph.h"
#include "plugin/backends/gaudi/synapse/library.h"
#include "plugin/hal/recipe.h"
#include "plugin/program/program_table.h"

namespace hpu::gaudi {

class GaudiRecipe final : public hal::Recipe {
 public:
  // Compiles for devices of `generation`. `target`: the devices' compiler_target. Unimplemented if the program has an
  // instruction without nodes. May take minutes.
  static absl::StatusOr<std::shared_ptr<const GaudiRecipe>> Compile(const synapse::Library& library,
                                                                    synapse::Generation generation,
                                                                    const std::string& target,
                                                                    const hal::Program& program);
  // Inverse of Serialize; see hal::Device::LoadRecipe. Verifies the bytes.
  static absl::StatusOr<std::shared_ptr<const GaudiRecipe>> Load(const synapse::Library& library,
                                                                 const std::string& target, absl::string_view name,
                                                                 absl::string_view bytes);

  const std::string& name() const override { return name_; }
  const std::vector<hal::TensorSpec>& arguments() const override { return table_.arguments; }
  const std::vector<hal::ResultSpec>& results() const override { return table_.results; }
  uint64_t workspace_bytes() const override { return graph_ == nullptr ? 0 : graph_->workspace_bytes(); }
  absl::StatusOr<std::string> Serialize() const override { return serialized_; }
  uint64_t serialized_bytes() const override { return serialized_.size(); }

  const synapse::Library& library() const { return library_; }
  // Null if the program computes nothing.
  const CompiledGraph* graph() const { return graph_.get(); }
  // Whether a launch writes the memory of a tensor of the graph: results, and arguments that a result aliases.
  bool Writes(const LaunchTensor& tensor) const { return !tensor.is_argument || is_written_[tensor.number]; }

 private:
  GaudiRecipe(std::string name, ProgramTable table, const synapse::Library& library,
              std::unique_ptr<CompiledGraph> graph, std::string serialized);

  const std::string name_;
  const ProgramTable table_;
  const synapse::Library& library_;
  const std::unique_ptr<CompiledGraph> graph_;
  const std::string serialized_;
  std::vector<bool> is_written_;  // by argument
};

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_COMPILER_RECIPE_H_
