// Pipeline of the graph passes: their names and order.
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

// Runs all passes on a placed graph, with a dump after each, and fills the report. After an error, graph and library
// may be partly changed.
absl::Status RunPasses(PassContext* context);

// Runs the pass named `name`; NOT_FOUND if there is none.
absl::Status RunPass(PassContext* context, std::string_view name);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_PIPELINE_H_
