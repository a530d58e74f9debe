#include "plugin/passes/clustering/recluster.h"

#include <memory>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "plugin/compat/tf_2_15/function_bodies.h"
#include "plugin/passes/analysis/kernel_search.h"
#include "plugin/passes/clustering/encapsulation_pass.h"
#include "plugin/passes/clustering/segmentation_pass.h"
#include "plugin/passes/graph/graph_util.h"
#include "plugin/passes/reporting/pass_context.h"
#include "tensorflow/core/framework/graph_to_functiondef.h"
#include "tensorflow/core/lib/core/errors.h"
#include "tsl/platform/statusor.h"

namespace hpu::passes {
namespace {

using tensorflow::FunctionDef;
using tensorflow::FunctionLibraryDefinition;
using tensorflow::Graph;
using tensorflow::Node;

using Names = absl::flat_hash_set<std::string>;

// Whether one of `names` is a node's name, or its name in the function from which it was inlined, as errors name it.
bool IsNamed(const tensorflow::NodeDef& node, const Names& names) {
  return names.contains(node.name()) ||
         absl::c_any_of(node.experimental_debug_info().original_node_names(),
                        [&](const std::string& original) { return names.contains(original); });
}

// Whether a function, or a function that it calls, contains a node with one of these names.
bool FunctionContains(const FunctionDef& function, const Names& names, const FunctionLibraryDefinition& library,
                      int depth);

bool CallsOneOf(const tensorflow::AttrSlice& attrs, const std::string& op, const Names& names,
                const FunctionLibraryDefinition& library, int depth) {
  constexpr int kMaxDepth = 32;
  if (depth > kMaxDepth) return false;
  std::vector<std::string> called = {op};
  for (const auto& [name, value] : attrs) {
    if (value.has_func()) called.push_back(value.func().name());
    for (const auto& function : value.list().func()) called.push_back(function.name());
  }
  for (const std::string& name : called) {
    const FunctionDef* callee = library.Find(name);
    if (callee != nullptr && FunctionContains(*callee, names, library, depth + 1)) return true;
  }
  return false;
}

bool FunctionContains(const FunctionDef& function, const Names& names, const FunctionLibraryDefinition& library,
                      int depth) {
  for (const tensorflow::NodeDef& node : function.node_def()) {
    if (IsNamed(node, names)) return true;
    if (CallsOneOf(tensorflow::AttrSlice(node), node.op(), names, library, depth)) return true;
  }
  return false;
}

// Places all nodes on the HPU, and marks all except the refused nodes as candidates. Returns the names of the refused
// nodes. Fails if a refused node has no HPU kernel, because such a node can run only in a cluster.
absl::StatusOr<std::vector<std::string>> MarkAllBut(const Names& refused, const std::string& device,
                                                    const FunctionLibraryDefinition& library, Graph* graph) {
  std::vector<std::string> found;
  for (Node* node : graph->op_nodes()) {
    node->set_requested_device(device);
    node->set_assigned_device_name(device);
    if (node->IsArg() || node->IsRetval()) continue;
    if (IsNamed(node->def(), refused) || CallsOneOf(node->attrs(), node->type_string(), refused, library, 0)) {
      if (!KernelSearch(library, /*or_lowering=*/false).Finds(node->def())) {
        return tensorflow::errors::InvalidArgument(node->name(), " (", node->type_string(),
                                                   ") cannot run outside its cluster: the op has no HPU kernel");
      }
      found.push_back(node->name());
      continue;
    }
    node->AddAttr(kCandidateAttr, true);
  }
  return found;
}

std::string FreeName(const std::string& prefix, const FunctionLibraryDefinition& library) {
  for (int n = 0;; ++n) {
    std::string name = absl::StrCat(prefix, n);
    if (library.Find(name) == nullptr) return name;
  }
}

}  // namespace

absl::StatusOr<SplitCluster> ReclusterWithout(const std::string& cluster, const std::vector<std::string>& refused,
                                              const std::string& device, FunctionLibraryDefinition* library) {
  const FunctionDef* function = library->Find(cluster);
  if (function == nullptr) {
    return tensorflow::errors::NotFound("cluster function ", cluster, " is not in the function library; report a bug");
  }
  TF_ASSIGN_OR_RETURN(const std::unique_ptr<tensorflow::FunctionBody> body, MakeFunctionBody(*function, *library));
  auto graph = std::make_unique<Graph>(library);
  graph->Copy(*body->graph);
  SplitCluster result;
  TF_ASSIGN_OR_RETURN(result.removed, MarkAllBut(Names(refused.begin(), refused.end()), device, *library, graph.get()));
  if (result.removed.empty()) {
    return tensorflow::errors::InvalidArgument("cluster ", cluster,
                                               " contains none of the ops to remove: ", absl::StrJoin(refused, ", "));
  }
  Settings settings = Settings::FromEnvironment();
  settings.cluster_fuel = -1;  // the cluster has already been counted
  const std::string graph_name(absl::StripPrefix(cluster, kClusterPrefix));
  PassContext context(&graph, library, graph_name, settings);
  TF_RETURN_IF_ERROR(SegmentGraph(&context));
  TF_RETURN_IF_ERROR(EncapsulateClusters(&context));
  result.function = FreeName(absl::StrCat(cluster, "_split_"), *library);
  result.clusters = static_cast<int>(context.report.clusters_size());
  FunctionDef split;
  TF_RETURN_IF_ERROR(tensorflow::GraphToFunctionDef(*graph, result.function, &split));
  TF_RETURN_IF_ERROR(library->AddFunctionDef(split));
  return result;
}

}  // namespace hpu::passes
