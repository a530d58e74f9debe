#include "plugin/passes/control_flow/inline_pass.h"

#include <algorithm>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "plugin/compat/tf_2_15/function_bodies.h"
#include "plugin/passes/graph/graph_util.h"
#include "plugin/passes/graph/settings.h"
#include "tensorflow/core/common_runtime/optimization_registry.h"
#include "tensorflow/core/graph/algorithm.h"
#include "tsl/platform/errors.h"

namespace hpu::passes {
namespace {

using tensorflow::FunctionLibraryDefinition;
using tensorflow::Node;

bool Has(const tensorflow::DataTypeVector& types, tensorflow::DataType type) {
  return std::find(types.begin(), types.end(), type) != types.end();
}

bool SharesLists(const Node& node, const FunctionLibraryDefinition& library) {
  return node.IsPartitionedCall() &&
         (Has(node.input_types(), tensorflow::DT_VARIANT) || Has(node.output_types(), tensorflow::DT_VARIANT)) &&
         !IsPinnedToOtherDevice(node) && !MustCompile(node, library);
}

}  // namespace

absl::Status InlineListCalls(tensorflow::Graph* graph, const FunctionLibraryDefinition& library) {
  // Limit for recursive functions.
  constexpr int kDeepest = 16;
  absl::flat_hash_set<const Node*> kept;
  for (int depth = 0; depth < kDeepest; ++depth) {
    std::vector<Node*> calls;
    for (Node* node : graph->op_nodes()) {
      if (SharesLists(*node, library) && !kept.contains(node)) calls.push_back(node);
    }
    if (calls.empty()) break;
    for (Node* call : calls) {
      TF_ASSIGN_OR_RETURN(const bool inlined, InlineCall(call, graph, library));
      if (!inlined) kept.insert(call);
    }
  }
  // Constants of inlined functions have no incoming edges, so a traversal from the source would miss these constants.
  tensorflow::FixupSourceAndSinkEdges(graph);
  return absl::OkStatus();
}

tensorflow::Status RunInlinePass(const tensorflow::GraphOptimizationPassOptions& options) {
  // Session graphs stay unchanged, because any node in a Session graph may be fetched.
  if (!options.is_function_graph || !MayUseHpu(options) ||
      Settings::FromEnvironment(options.session_options).clustering == Clustering::kOff) {
    return tensorflow::OkStatus();
  }
  return InlineListCalls(options.graph->get(), *options.flib_def);
}

}  // namespace hpu::passes
