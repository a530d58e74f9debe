// Pipeline of the graph passes on a placed graph.
#ifndef HPU_PLUGIN_PASSES_PIPELINE_H_
#define HPU_PLUGIN_PASSES_PIPELINE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "plugin/passes/reporting/pass_context.h"

namespace hpu::passes {

// Names of the passes in execution order.
std::vector<std::string> PassNames();

// Runs all passes on a placed graph. If the settings exclude clusters, runs only the passes that change results. Writes
// the graph dumps that the settings request, and fills the report. After an error, the graph and the library may be
// partially rewritten.
absl::Status RunPasses(PassContext* context);

// Runs the pass `name`. Fails with NOT_FOUND if no pass has this name.
absl::Status RunPass(PassContext* context, std::string_view name);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_PIPELINE_H_
