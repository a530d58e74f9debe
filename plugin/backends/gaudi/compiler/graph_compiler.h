// CompileGraph: compilation of a GraphPlan with SynapseAI's library.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_COMPILER_GRAPH_COMPILER_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_COMPILER_GRAPH_COMPILER_H_

#include <string>

#include "absl/status/statusor.h"
#include "plugin/backends/gaudi/plan/graph_plan.h"
#include "plugin/backends/gaudi/synapse/generation.h"
#include "plugin/backends/gaudi/synapse/library.h"
#include "plugin/program/program_table.h"

namespace hpu::gaudi {

// Builds the plan's graph and compiles it. `name`: the program's, for messages and dumps of the library. A result that
// aliases an argument gets the argument's section. Fails with the library's status; the text names the failed function.
// The plan has at least one node. Thread safe.
absl::StatusOr<synapse::OwnedRecipe> CompileGraph(const synapse::Library& library, synapse::Generation generation,
                                                  const std::string& name, const GraphPlan& plan,
                                                  const ProgramTable& table);

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_COMPILER_GRAPH_COMPILER_H_
