// Control edges between an op and the check of its arguments or results.
#ifndef HPU_PLUGIN_PASSES_CLUSTERING_CHECK_ORDER_H_
#define HPU_PLUGIN_PASSES_CLUSTERING_CHECK_ORDER_H_

#include "absl/strings/string_view.h"
#include "plugin/passes/reporting/pass_context.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// Makes `node` wait for `check` if `before`, and reports the check. `what` is the start of the report's text: "indices
// are".
void OrderCheck(PassContext* context, tensorflow::Node* node, tensorflow::Node* check, absl::string_view what,
                bool before);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CLUSTERING_CHECK_ORDER_H_
