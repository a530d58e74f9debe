// Rewriting of a graph together with the functions of its calls, loops and branches.
#ifndef HPU_PLUGIN_PASSES_FUNCTIONS_FUNCTION_REWRITER_H_
#define HPU_PLUGIN_PASSES_FUNCTIONS_FUNCTION_REWRITER_H_

#include <functional>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "plugin/passes/graph/graph_util.h"
#include "plugin/passes/reporting/pass_context.h"
#include "tensorflow/core/common_runtime/function_body.h"

namespace hpu::passes {

// A function named `name` with the graph of `body` and all other properties of `original`.
absl::StatusOr<tensorflow::FunctionDef> FunctionLike(const tensorflow::FunctionDef& original,
                                                     const tensorflow::FunctionBody& body, const std::string& name);

// Lives for one run of a pass. Other graphs, which do not know the rewrite, may use the same functions. So each changed
// function is added to the library under another name, and its callers call that one.
class FunctionRewriter {
 public:
  // Whether a node of the current graph belongs to the HPU.
  using Concerned = std::function<bool(const tensorflow::Node&)>;
  // Rewrites one graph and returns whether it changed. Names in reports begin with `prefix`: the function's name and a
  // slash, or empty for the graph itself.
  using Rewrite = std::function<absl::StatusOr<bool>(tensorflow::Graph* graph, const Concerned& concerned,
                                                     const std::string& prefix)>;

  // The names of new functions end in `suffix`.
  FunctionRewriter(PassContext* context, std::string suffix, Rewrite rewrite)
      : context_(context), suffix_(std::move(suffix)), rewrite_(std::move(rewrite)) {}

  // Rewrites the context's graph, and the functions that the nodes selected by `concerned` call.
  absl::Status Run(const Concerned& concerned = IsOnHpu);

 private:
  absl::StatusOr<bool> RewriteGraph(tensorflow::Graph* graph, const Concerned& concerned, const std::string& prefix);
  absl::StatusOr<bool> RewriteCallees(tensorflow::Node* node);
  absl::StatusOr<std::string> RewriteFunction(const std::string& name);

  PassContext* const context_;
  const std::string suffix_;
  const Rewrite rewrite_;
  absl::flat_hash_map<std::string, std::string> done_;  // new names of the rewritten functions
};

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_FUNCTIONS_FUNCTION_REWRITER_H_
