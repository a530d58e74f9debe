// Example shapes and params of guids, by stem.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_CHECK_EXAMPLE_SHAPES_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_CHECK_EXAMPLE_SHAPES_H_

#include <optional>
#include <string>
#include <vector>

#include "plugin/backends/gaudi/guids/guid_table.h"
#include "plugin/backends/gaudi/plan/graph_plan.h"
#include "plugin/backends/gaudi/synapse/profile_enum.h"
#include "plugin/backends/gaudi/synapse/types.h"

namespace hpu::gaudi {

// Sizes of a node's operands and results, without trailing optional operands and results. `params`: bytes of the params
// struct, in the struct version that lowerings use.
struct ExampleShapes {
  std::vector<Sizes> operands;
  std::vector<Sizes> results;
  std::string params;
  // Type of the results, if it differs from the type in the guid's row.
  synapse::synDataType result_type = synapse::syn_type_na;
};

// Shapes and params of a valid node. `type`: of the suffix, or of the first operand. A row without params and without
// an entry in the table of shapes counts as elementwise. nullopt if operands or params are unknown.
std::optional<ExampleShapes> ShapesOf(const Guid& guid, synapse::synDataType type, synapse::Profile profile);

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_CHECK_EXAMPLE_SHAPES_H_
