// Spelling suggestions for misspelt names.
#ifndef HPU_PLUGIN_PASSES_GRAPH_NEAREST_NAME_H_
#define HPU_PLUGIN_PASSES_GRAPH_NEAREST_NAME_H_

#include <string>
#include <string_view>
#include <vector>

namespace hpu::passes {

// The candidate in `names` with the smallest edit distance to `name`, ignoring case; empty if more than a third of the
// letters differ.
std::string NearestName(std::string_view name, const std::vector<std::string>& names);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_GRAPH_NEAREST_NAME_H_
