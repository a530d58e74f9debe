// Files of recipes: a format of the double's own, with a version and a checksum.
#ifndef HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_GRAPH_RECIPE_FILE_H_
#define HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_GRAPH_RECIPE_FILE_H_

#include <string>

#include "plugin/testing/synapse_double/graph/recipe.h"
#include "plugin/testing/synapse_double/graph/verdict.h"

namespace hpu::synapse_double {

Verdict WriteRecipe(const RecipeData& recipe, const std::string& path);
// Fails for a file of another release, and for a truncated or changed file.
Verdict ReadRecipe(const std::string& path, RecipeData* recipe);

}  // namespace hpu::synapse_double

#endif  // HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_GRAPH_RECIPE_FILE_H_
