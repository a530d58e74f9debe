// The passes in their order.
#ifndef HPU_PLUGIN_PASSES_PIPELINE_H_
#define HPU_PLUGIN_PASSES_PIPELINE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "plugin/passes/reporting/pass_context.h"

namespace hpu::passes {

// Names of the passes, in the order in which they run.
std::vector<std::string> PassNames();

// Runs all passes on a placed graph, with a dump after each, and fills the report. On an error graph and library may be
// half changed.
absl::Status RunPasses(PassContext* context);

// Runs one pass by name; NOT_FOUND for other names.
absl::Status RunPass(PassContext* context, std::string_view name);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_PIPELINE_H_
