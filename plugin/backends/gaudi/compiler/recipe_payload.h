// RecipePayload: steps, memory and tensors of a Gaudi recipe, and their serialised form.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_COMPILER_RECIPE_PAYLOAD_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_COMPILER_RECIPE_PAYLOAD_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "plugin/backends/gaudi/compiler/compiled_graph.h"
#include "plugin/backends/gaudi/plan/program_plan.h"
#include "plugin/program/program_table.h"

namespace hpu::gaudi {

struct RecipePayload {
  std::vector<std::vector<LaunchTensor>> graphs;  // tensors of each graph
  std::vector<ProgramMemory> memory;              // in order of first use
  std::vector<Step> steps;
  uint64_t buffer_bytes = 0;
};

// The payload of a plan. Leaves out memory that no graph and no loop uses.
RecipePayload MakePayload(const ProgramPlan& plan);

// hpu.recipe.v1.GaudiPayload. Equal payloads have equal bytes.
std::string SerializePayload(const RecipePayload& payload);

// Inverse of SerializePayload. Nullopt unless every index is valid, each graph has a step, and memory of arguments and
// results has the sizes of the table.
std::optional<RecipePayload> ParsePayload(absl::string_view bytes, const ProgramTable& table);

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_COMPILER_RECIPE_PAYLOAD_H_
