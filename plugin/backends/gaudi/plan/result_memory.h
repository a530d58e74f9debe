// Memory of results: which tensors are results, and in which order nodes use memory that a result shares with an
// argument.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_PLAN_RESULT_MEMORY_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_PLAN_RESULT_MEMORY_H_

#include <vector>

#include "absl/status/status.h"
#include "plugin/backends/gaudi/plan/plan_builder.h"
#include "plugin/program/program_table.h"

namespace hpu::gaudi {

// Makes `values` the results of the plan. `values` has one tensor for each result, or kNoTensor for an empty one.
// Copies arguments, constants, and values that are several results. A result that equals its aliased argument has no
// tensor.
absl::Status PlaceResults(const std::vector<TensorId>& values, const ProgramTable& table, PlanBuilder* builder);

// Orders nodes around results that share memory with an argument: each node that reads the argument runs before the
// node that writes the result. If the writer cannot wait, it writes other memory, and a copy to the result runs at the
// end. A writer cannot wait if it reads the argument and is not elementwise, or if a reader needs its result.
absl::Status OrderAliases(const ProgramTable& table, GraphPlan* plan);

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_PLAN_RESULT_MEMORY_H_
