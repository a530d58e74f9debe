#include "plugin/passes/control_flow/inline_pass.h"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "plugin/base/status_macros.h"
#include "plugin/compat/function_bodies.h"
#include "plugin/passes/functions/functional_control_flow.h"
#include "plugin/passes/graph/graph_util.h"
#include "plugin/passes/graph/settings.h"
#include "tensorflow/core/common_runtime/optimization_registry.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/graph/algorithm.h"

namespace hpu::passes {
namespace {

using tensorflow::FunctionLibraryDefinition;
using tensorflow::Node;

bool Has(const tensorflow::DataTypeVector& types, tensorflow::DataType type) {
  return std::find(types.begin(), types.end(), type) != types.end();
}

// Finds calls that share TensorLists, and calls whose functions contain such calls, loops or branches.
class AnalysedCalls {
 public:
  explicit AnalysedCalls(const FunctionLibraryDefinition& library) : library_(library) {}

  bool Contains(const Node& call) { return IsAnalysed(call.def()); }

 private:
  bool IsAnalysed(const tensorflow::NodeDef& call) {
    tensorflow::DataTypeVector arguments, results;
    tensorflow::NameAttrList function;
    if (!tensorflow::GetNodeAttr(call, "Tin", &arguments).ok() ||
        !tensorflow::GetNodeAttr(call, "Tout", &results).ok() || !tensorflow::GetNodeAttr(call, "f", &function).ok()) {
      return false;
    }
    return Has(arguments, tensorflow::DT_VARIANT) || Has(results, tensorflow::DT_VARIANT) ||
           IsAnalysedFunction(function.name());
  }

  bool IsAnalysedFunction(const std::string& name) {
    const tensorflow::FunctionDef* const function = library_.Find(name);
    if (function == nullptr) return false;
    if (const auto [found, is_new] = functions_.try_emplace(name, false); !is_new) return found->second;
    const bool is_analysed = absl::c_any_of(function->node_def(), [&](const tensorflow::NodeDef& node) {
      if (node.op() == "PartitionedCall" || node.op() == "StatefulPartitionedCall") return IsAnalysed(node);
      return IsFunctionalControlFlow(node);
    });
    return functions_[name] = is_analysed;
  }

  const FunctionLibraryDefinition& library_;
  absl::flat_hash_map<std::string, bool> functions_;
};

}  // namespace

absl::Status InlineCalls(tensorflow::Graph* graph, const FunctionLibraryDefinition& library, bool keep_names,
                         const std::function<bool(const Node&)>& filter) {
  // Limit for recursive functions.
  constexpr int kDeepest = 16;
  absl::flat_hash_set<const Node*> kept;
  for (int depth = 0; depth < kDeepest; ++depth) {
    std::vector<Node*> calls;
    for (Node* node : graph->op_nodes()) {
      if (!node->IsPartitionedCall() || IsPinnedToOtherDevice(*node) || MustCompile(*node, library)) continue;
      if (!kept.contains(node) && filter(*node)) calls.push_back(node);
    }
    if (calls.empty()) break;
    for (Node* call : calls) {
      HPU_ASSIGN_OR_RETURN(const bool inlined, InlineCall(call, graph, library, /*even_noinline=*/false, keep_names));
      if (!inlined) kept.insert(call);
    }
  }
  // Constants of inlined functions have no incoming edges, so a traversal from the source would miss these constants.
  tensorflow::FixupSourceAndSinkEdges(graph);
  return absl::OkStatus();
}

absl::Status InlineAnalysedCalls(tensorflow::Graph* graph, const FunctionLibraryDefinition& library) {
  AnalysedCalls analysed(library);
  return InlineCalls(graph, library, /*keep_names=*/false, [&](const Node& call) { return analysed.Contains(call); });
}

tensorflow::Status RunInlinePass(const tensorflow::GraphOptimizationPassOptions& options) {
  // Session graphs stay unchanged, because any node in a Session graph may be fetched.
  if (!options.is_function_graph || !MayUseHpu(options) ||
      Settings::FromEnvironment(options.session_options).clustering == Clustering::kOff) {
    return tensorflow::OkStatus();
  }
  return InlineAnalysedCalls(options.graph->get(), *options.flib_def);
}

}  // namespace hpu::passes
