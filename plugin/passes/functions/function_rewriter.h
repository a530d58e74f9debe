// Rewriting of a graph together with the functions of its calls, loops and branches.
#ifndef HPU_PLUGIN_PASSES_FUNCTIONS_FUNCTION_REWRITER_H_
#define HPU_PLUGIN_PASSES_FUNCTIONS_FUNCTION_REWRITER_H_

#include <functional>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "plugin/compat/function_bodies.h"
#include "plugin/passes/graph/graph_util.h"
#include "plugin/passes/reporting/pass_context.h"

namespace hpu::passes {

// A function named `name` with the given graph, and the attributes and control results of `original`.
absl::StatusOr<tensorflow::FunctionDef> FunctionLike(const tensorflow::FunctionDef& original,
                                                     const tensorflow::Graph& graph, const std::string& name);

// Rewriter for one run of a pass. Adds each changed function to the library under a new name, and updates the
// function's callers in the graph. Other graphs that use the function stay unchanged.
class FunctionRewriter {
 public:
  // Selects nodes: in the main graph by the filter of Run, in functions the nodes that are not pinned to other devices.
  using NodeFilter = std::function<bool(const tensorflow::Node&)>;
  // Rewrites one graph and returns whether it changed. Node names in reports begin with `prefix`: the function's name
  // and a slash; empty for the main graph.
  using Rewrite = std::function<absl::StatusOr<bool>(tensorflow::Graph* graph, const NodeFilter& filter,
                                                     const std::string& prefix)>;

  // The names of new functions end in `suffix`.
  FunctionRewriter(PassContext* context, std::string suffix, Rewrite rewrite)
      : context_(context), suffix_(std::move(suffix)), rewrite_(std::move(rewrite)) {}

  // Rewrites the context's graph, and the functions called by nodes that `filter` accepts.
  absl::Status Run(const NodeFilter& filter = IsOnHpu);

 private:
  absl::StatusOr<bool> RewriteGraph(tensorflow::Graph* graph, const NodeFilter& filter, const std::string& prefix);
  absl::StatusOr<bool> RewriteCallees(tensorflow::Node* node);
  absl::StatusOr<std::string> RewriteFunction(const std::string& name);

  PassContext* const context_;
  const std::string suffix_;
  const Rewrite rewrite_;
  absl::flat_hash_map<std::string, std::string> done_;  // new names of visited functions, by old name
};

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_FUNCTIONS_FUNCTION_REWRITER_H_
