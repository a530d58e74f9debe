// Execution of a recipe's nodes on host memory.
#ifndef HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_GRAPH_EXECUTION_H_
#define HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_GRAPH_EXECUTION_H_

#include <cstdint>
#include <vector>

#include "plugin/testing/synapse_double/graph/recipe.h"
#include "plugin/testing/synapse_double/graph/verdict.h"

namespace hpu::synapse_double {

// Host memory that backs the sections and the workspace of a launch. Null for 0 bytes.
struct ExecutionMemory {
  std::vector<char*> sections;
  char* workspace = nullptr;
};

// Fills the workspace and the results with kPoison, then runs the nodes in a random topological order.
Verdict Execute(const RecipeData& recipe, const ExecutionMemory& memory, uint64_t seed);

}  // namespace hpu::synapse_double

#endif  // HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_GRAPH_EXECUTION_H_
