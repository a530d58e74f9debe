// Registry of custom ops that come with their own HPU kernel.
#ifndef HPU_PLUGIN_PASSES_ANALYSIS_CUSTOM_OPS_H_
#define HPU_PLUGIN_PASSES_ANALYSIS_CUSTOM_OPS_H_

#include <string>
#include <string_view>

namespace hpu::passes {

// Custom ops run on the HPU even if the active op list does not contain them. Both functions are thread safe.
void AddCustomOp(std::string op);
bool IsCustomOp(std::string_view op);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_ANALYSIS_CUSTOM_OPS_H_
