// Connection of an op with the check of its arguments or results.
#ifndef HPU_PLUGIN_PASSES_CLUSTERING_CHECK_ORDER_H_
#define HPU_PLUGIN_PASSES_CLUSTERING_CHECK_ORDER_H_

#include "absl/strings/string_view.h"
#include "plugin/passes/reporting/pass_context.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// Adds a control edge from `check` to `node` if `before` is true, and reports the check. The report's text begins with
// `what`, for example "indices are". Errors of `check` name `node`, so that TensorFlow shows the program's line; if
// several nodes share a check, its errors name the first.
void OrderCheck(PassContext* context, tensorflow::Node* node, tensorflow::Node* check, absl::string_view what,
                bool before);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CLUSTERING_CHECK_ORDER_H_
