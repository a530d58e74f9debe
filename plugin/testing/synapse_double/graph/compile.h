// Compilation of a graph to a recipe.
#ifndef HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_GRAPH_COMPILE_H_
#define HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_GRAPH_COMPILE_H_

#include <memory>
#include <string>

#include "plugin/testing/synapse_double/graph/graph.h"
#include "plugin/testing/synapse_double/graph/recipe.h"
#include "plugin/testing/synapse_double/graph/verdict.h"

namespace hpu::synapse_double {

Verdict Compile(const Graph& graph, const std::string& name, RecipeData* recipe);

}  // namespace hpu::synapse_double

#endif  // HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_GRAPH_COMPILE_H_
