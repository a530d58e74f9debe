// Example nodes: a small valid graph with one node, for each guid and type that the Gaudi backend may use.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_CHECK_EXAMPLE_NODES_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_CHECK_EXAMPLE_NODES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "plugin/backends/gaudi/guids/guid_table.h"
#include "plugin/backends/gaudi/plan/graph_plan.h"
#include "plugin/backends/gaudi/plan/plan_builder.h"
#include "plugin/backends/gaudi/synapse/generation.h"
#include "plugin/backends/gaudi/synapse/types.h"

namespace hpu::gaudi {

// A row of the guid table, and one type that it supports.
struct TypedGuid {
  const Guid* guid = nullptr;
  synapse::synDataType type = synapse::syn_type_na;         // of the suffix; without a suffix, of the first operand
  synapse::synDataType source_type = synapse::syn_type_na;  // of casts

  // The node's guid, such as "add_fwd_f32".
  std::string name() const { return GuidName(*guid, type, source_type); }
  // "f32", or "f32 to i32" for a cast.
  std::string type_text() const;
};

// One entry for each usable row (IsUsable) and each type of the generation, in table order. Casts: only direct ones. A
// row without types of the generation has one entry without a type.
std::vector<TypedGuid> UsableGuids(synapse::Generation generation);

// A graph of one node. Operands are arguments, except for the axis of reverse, which is a constant. NotFound if the
// operands, types or params of the guid are unknown. Fails as PlanBuilder::AddNode does.
absl::StatusOr<GraphPlan> ExamplePlan(const TypedGuid& node, const PlanTarget& target);

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_CHECK_EXAMPLE_NODES_H_
