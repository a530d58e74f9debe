// GaudiRecipe: a program compiled to Synapse recipes.
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
#include "plugin/backends/gaudi/compiler/recipe_payload.h"
#include "plugin/backends/gaudi/synapse/library.h"
#include "plugin/hal/recipe.h"
#include "plugin/program/program_table.h"

namespace hpu::gaudi {

class GaudiRecipe final : public hal::Recipe {
 public:
  // Compiles for devices of `generation`. `target`: the devices' compiler_target. Unimplemented if an instruction
  // cannot be lowered. May take minutes.
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
  // The steps' buffers come first, at offset 0. The graphs run one at a time and share the workspace after the buffers.
  uint64_t workspace_bytes() const override { return payload_.buffer_bytes + graph_workspace_bytes_; }
  absl::StatusOr<std::string> Serialize() const override { return serialized_; }
  uint64_t serialized_bytes() const override { return serialized_.size(); }

  const synapse::Library& library() const { return library_; }
  // Empty if the program computes nothing.
  const std::vector<Step>& steps() const { return payload_.steps; }
  // Whether the host drives the steps. Without loops, there is at most one step.
  bool has_loops() const { return has_loops_; }
  const CompiledGraph& graph(const Step& step) const { return *graphs_[step.graph]; }
  // Memory of the graphs and loops, by MemoryId.
  const std::vector<ProgramMemory>& memory() const { return payload_.memory; }
  // Offset of the graphs' workspace in the launch's workspace.
  uint64_t graph_workspace_offset() const { return payload_.buffer_bytes; }

 private:
  using Graphs = std::vector<std::unique_ptr<CompiledGraph>>;

  GaudiRecipe(std::string name, ProgramTable table, const synapse::Library& library, RecipePayload payload,
              Graphs graphs, std::string serialized);

  const std::string name_;
  const ProgramTable table_;
  const synapse::Library& library_;
  const RecipePayload payload_;
  const Graphs graphs_;
  const uint64_t graph_workspace_bytes_;
  const bool has_loops_;
  const std::string serialized_;
};

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_COMPILER_RECIPE_H_
