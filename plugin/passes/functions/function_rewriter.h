// One rewrite of a graph, applied to the functions of its calls, loops and branches too.
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

// A function of this name with the graph of `body` and all else of `original`.
absl::StatusOr<tensorflow::FunctionDef> FunctionLike(const tensorflow::FunctionDef& original,
                                                     const tensorflow::FunctionBody& body, const std::string& name);

// Lives for one run of a pass. Functions are shared by graphs that know nothing of the rewrite, so each one that
// changes is added to the library under another name, and its callers call that.
class FunctionRewriter {
 public:
  // Whether a node of the graph in hand belongs to the HPU.
  using Concerned = std::function<bool(const tensorflow::Node&)>;
  // Rewrites one graph and returns whether it did. Names in reports begin with `prefix`: the function's name and a
  // slash, nothing for the graph itself.
  using Rewrite = std::function<absl::StatusOr<bool>(tensorflow::Graph* graph, const Concerned& concerned,
                                                     const std::string& prefix)>;

  // The new functions' names end in `suffix`.
  FunctionRewriter(PassContext* context, std::string suffix, Rewrite rewrite)
      : context_(context), suffix_(std::move(suffix)), rewrite_(std::move(rewrite)) {}

  // Rewrites the context's graph, and what it calls from those of its nodes that `concerned` picks.
  absl::Status Run(const Concerned& concerned = IsOnHpu);

 private:
  absl::StatusOr<bool> RewriteGraph(tensorflow::Graph* graph, const Concerned& concerned, const std::string& prefix);
  absl::StatusOr<bool> RewriteCallees(tensorflow::Node* node);
  absl::StatusOr<std::string> RewriteFunction(const std::string& name);

  PassContext* const context_;
  const std::string suffix_;
  const Rewrite rewrite_;
  absl::flat_hash_map<std::string, std::string> done_;  // functions, to the names that they have now
};

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_FUNCTIONS_FUNCTION_REWRITER_H_
