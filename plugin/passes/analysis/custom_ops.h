// Ops of users that brought a kernel for the HPU along.
#ifndef HPU_PLUGIN_PASSES_ANALYSIS_CUSTOM_OPS_H_
#define HPU_PLUGIN_PASSES_ANALYSIS_CUSTOM_OPS_H_

#include <string>
#include <string_view>

namespace hpu::passes {

// They run on the HPU whatever the active op list knows. Both are thread safe.
void AddCustomOp(std::string op);
bool IsCustomOp(std::string_view op);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_ANALYSIS_CUSTOM_OPS_H_
