#include "plugin/passes/graph/graph_names.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "plugin/passes/graph/graph_util.h"
#include "tensorflow/core/platform/hash.h"

namespace hpu::passes {
namespace {

// A Session caches the kernels of stateful nodes by node name, for all its graphs, so clusters of different graphs need
// different names. A hash of the node names identifies a graph, and is the same in every process.
std::string SessionGraphName(const tensorflow::Graph& graph) {
  uint64_t sum = 0;
  for (const tensorflow::Node* node : graph.op_nodes()) sum += tensorflow::Hash64(node->name());
  return absl::StrCat("session_", absl::Hex(sum & 0xffffffff, absl::kZeroPad8));
}

}  // namespace

std::string FunctionName(const tensorflow::GraphOptimizationPassOptions& options) {
  return options.function_def == nullptr ? "" : options.function_def->signature().name();
}

std::string NameOfGraph(const std::string& function, const tensorflow::Graph& graph) {
  return function.empty() ? SessionGraphName(graph) : GraphName(function);
}

bool IsSkippedGraph(const std::string& function) {
  return IsEagerWrapper(function) || absl::StartsWith(function, kClusterPrefix);
}

}  // namespace hpu::passes
