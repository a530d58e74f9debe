// Spelling suggestions: the known name that is nearest to a misspelt one.
#ifndef HPU_PLUGIN_PASSES_GRAPH_NEAREST_NAME_H_
#define HPU_PLUGIN_PASSES_GRAPH_NEAREST_NAME_H_

#include <string>
#include <string_view>
#include <vector>

namespace hpu::passes {

// The name with the fewest edits, ignoring case; empty if none is near (a third of the letters differ).
std::string NearestName(std::string_view name, const std::vector<std::string>& names);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_GRAPH_NEAREST_NAME_H_
