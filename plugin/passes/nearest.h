// "Did you mean …?"
#ifndef HPU_PLUGIN_PASSES_NEAREST_H_
#define HPU_PLUGIN_PASSES_NEAREST_H_

#include <string>
#include <string_view>
#include <vector>

namespace hpu::passes {

// The one of `names`, which is not empty, that takes the fewest changed letters to be `name`.
std::string Nearest(std::string_view name, const std::vector<std::string>& names);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_NEAREST_H_
