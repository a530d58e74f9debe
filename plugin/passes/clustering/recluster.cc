#include "plugin/passes/clustering/recluster.h"

#include <memory>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "plugin/base/status_macros.h"
#include "plugin/base/version/contact.h"
#include "plugin/compat/function_bodies.h"
#include "plugin/compat/graph_rewrites.h"
#include "plugin/op_facts/op_facts.h"
#include "plugin/passes/analysis/kernel_search.h"
#include "plugin/passes/clustering/encapsulation_pass.h"
#include "plugin/passes/clustering/segmentation_pass.h"
#include "plugin/passes/functions/functional_control_flow.h"
#include "plugin/passes/graph/graph_util.h"
#include "plugin/passes/random/random_pass.h"
#include "plugin/passes/reporting/pass_context.h"
#include "tensorflow/core/framework/graph_to_functiondef.h"
#include "tensorflow/core/graph/algorithm.h"

namespace hpu::passes {
namespace {

using tensorflow::FunctionDef;
using tensorflow::FunctionLibraryDefinition;
using tensorflow::Graph;
using tensorflow::Node;

constexpr char kFailedCluster[] = "its cluster with other ops did not compile";

using Names = absl::flat_hash_set<std::string>;
using NodeTest = absl::FunctionRef<bool(const tensorflow::NodeDef&)>;

// Whether one of `names` is a node's name, or its name in the function from which it was inlined, as errors name it.
bool IsNamedIn(const tensorflow::NodeDef& node, const Names& names) {
  return names.contains(node.name()) ||
         absl::c_any_of(node.experimental_debug_info().original_node_names(),
                        [&](const std::string& original) { return names.contains(original); });
}

// Whether a function, or a function that it calls, contains a node that passes the test.
bool FunctionContains(const FunctionDef& function, NodeTest test, const FunctionLibraryDefinition& library, int depth);

bool CallsOneOf(const tensorflow::AttrSlice& attrs, const std::string& op, NodeTest test,
                const FunctionLibraryDefinition& library, int depth = 0) {
  constexpr int kMaxDepth = 32;
  if (depth > kMaxDepth) return false;
  std::vector<std::string> called = {op};
  for (const auto& [name, value] : attrs) {
    if (value.has_func()) called.push_back(value.func().name());
    for (const auto& function : value.list().func()) called.push_back(function.name());
  }
  for (const std::string& name : called) {
    const FunctionDef* callee = library.Find(name);
    if (callee != nullptr && FunctionContains(*callee, test, library, depth + 1)) return true;
  }
  return false;
}

bool FunctionContains(const FunctionDef& function, NodeTest test, const FunctionLibraryDefinition& library, int depth) {
  for (const tensorflow::NodeDef& node : function.node_def()) {
    if (test(node) || CallsOneOf(tensorflow::AttrSlice(node), node.op(), test, library, depth)) return true;
  }
  return false;
}

// Whether an op draws numbers by the state of its kernel, which compiled code lacks.
bool DrawsByKernel(const tensorflow::NodeDef& node) {
  const OpFacts& facts = FactsOf(node.op());
  return facts.random == RandomNumbers::kSeeded && facts.compile == CompilePolicy::kNever;
}

// Places all nodes on the HPU, and marks all except the refused nodes as candidates. A refused call of a jit_compile
// function becomes a cluster by itself. Returns the names of the refused nodes. Fails if a refused node has no HPU
// kernel, because such a node can run only in a cluster.
absl::StatusOr<std::vector<std::string>> MarkAllBut(const Names& refused, const std::string& device,
                                                    const FunctionLibraryDefinition& library, Graph* graph) {
  std::vector<std::string> found;
  absl::Status failure;
  for (Node* node : graph->op_nodes()) {
    node->set_requested_device(device);
    node->set_assigned_device_name(device);
    if (node->IsArg() || node->IsRetval()) continue;
    const bool is_jit_call = MustCompile(*node, library);
    const auto is_refused = [&](const tensorflow::NodeDef& inner) { return IsNamedIn(inner, refused); };
    if (is_refused(node->def()) || CallsOneOf(node->attrs(), node->type_string(), is_refused, library)) {
      if (is_jit_call) {
        found.push_back(node->name());
        node->AddAttr(kMustCompileAttr, kFailedCluster);
        continue;
      }
      if (!KernelSearch(library, /*or_lowering=*/false).Finds(node->def())) {
        failure.Update(absl::InvalidArgumentError(absl::StrCat(
            node->name(), " (", node->type_string(), ") cannot run outside its cluster: the op has no HPU kernel")));
        node->AddAttr(kCandidateAttr, true);
        continue;
      }
      found.push_back(node->name());
      continue;
    }
    node->AddAttr(kCandidateAttr, true);
    if (is_jit_call) node->AddAttr(kJitCallAttr, true);
  }
  if (!failure.ok()) return failure;
  return found;
}

// Makes each call of a jit_compile function a cluster by itself. Returns the names of the calls.
std::vector<std::string> SeparateJitCalls(Graph* graph) {
  std::vector<std::string> separated;
  for (Node* node : graph->op_nodes()) {
    if (node->attrs().Find(kJitCallAttr) != nullptr) {
      node->ClearAttr(kJitCallAttr);
      node->ClearAttr(kCandidateAttr);
      node->AddAttr(kMustCompileAttr, kFailedCluster);
    }
    if (node->attrs().Find(kMustCompileAttr) == nullptr) continue;
    separated.push_back(node->name());
  }
  return separated;
}

// Takes the nodes whose results have bounded sizes out of the candidates. Returns their names.
std::vector<std::string> RemoveBoundedResults(const FunctionLibraryDefinition& library, Graph* graph) {
  std::vector<std::string> removed;
  for (Node* node : graph->op_nodes()) {
    if (FactsOf(node->type_string()).result_size != ResultSize::kBounded ||
        node->attrs().Find(kCandidateAttr) == nullptr ||
        !KernelSearch(library, /*or_lowering=*/false).Finds(node->def())) {
      continue;
    }
    node->ClearAttr(kCandidateAttr);
    removed.push_back(node->name());
  }
  return removed;
}

std::string FreeName(const std::string& prefix, const FunctionLibraryDefinition& library) {
  for (int n = 0;; ++n) {
    std::string name = absl::StrCat(prefix, n);
    if (library.Find(name) == nullptr) return name;
  }
}

absl::StatusOr<std::unique_ptr<Graph>> GraphOf(const std::string& cluster, const FunctionLibraryDefinition& library) {
  const FunctionDef* function = library.Find(cluster);
  if (function == nullptr) {
    return absl::NotFoundError(
        absl::StrCat("cluster function ", cluster, " is not in the function library; " HPU_REPORT_BUG));
  }
  HPU_ASSIGN_OR_RETURN(const std::unique_ptr<tensorflow::FunctionBody> body, MakeFunctionBody(*function, library));
  auto graph = std::make_unique<Graph>(&library);
  graph->Copy(*body->graph);
  return graph;
}

// Inlines the calls and lowers the loops and branches that contain random ops.
absl::Status ExpandRandomFunctions(std::unique_ptr<Graph>* graph, FunctionLibraryDefinition* library) {
  constexpr int kMaxDepth = 32;  // for recursive functions
  const char* const kLower = tensorflow::LowerFunctionalOpsPass::kLowerUsingSwitchMergeAttr;
  for (int depth = 0; depth < kMaxDepth; ++depth) {
    bool lower = false;
    std::vector<Node*> calls;
    for (Node* node : (*graph)->op_nodes()) {
      const bool draws = CallsOneOf(node->attrs(), node->type_string(), DrawsByKernel, *library);
      if (IsFunctionalControlFlow(*node)) {
        node->ClearAttr(kLower);
        if (draws) node->AddAttr(kLower, true);
        lower |= draws;
      } else if (draws) {
        calls.push_back(node);
      }
    }
    if (calls.empty() && !lower) return absl::OkStatus();
    for (Node* call : calls) {
      const std::string name = call->name();
      HPU_ASSIGN_OR_RETURN(const bool inlined, InlineCall(call, graph->get(), *library, /*even_noinline=*/true));
      if (!inlined) return absl::InvalidArgumentError(absl::StrCat(name, " calls a random op, but cannot be inlined"));
    }
    if (!lower) continue;
    tensorflow::GraphOptimizationPassOptions options;
    options.graph = graph;
    options.flib_def = library;
    options.is_function_graph = true;
    tensorflow::FixupSourceAndSinkEdges(graph->get());
    HPU_RETURN_IF_ERROR(tensorflow::LowerFunctionalOpsPass().Run(options));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("functions with random ops are nested more than ", kMaxDepth, " levels deep"));
}

// Whether a node of an expanded function runs outside clusters.
bool StaysOutside(const Node& node, bool lowered) {
  const std::string& op = node.type_string();
  if (node.IsArg() || node.IsRetval() || node.IsControlFlow() || node.IsLoopCond() || node.IsControlTrigger()) {
    return true;
  }
  if (op == kPhiloxStateOp || op == kRandomOrderOp || node.attrs().Find(kHostShapeAttr) != nullptr) return true;
  // TensorLists that pass through lowered control flow cannot enter clusters.
  const auto has_list = [](const tensorflow::DataTypeVector& types) {
    return absl::c_linear_search(types, tensorflow::DT_VARIANT);
  };
  return DrawsByKernel(node.def()) || (lowered && (has_list(node.input_types()) || has_list(node.output_types())));
}

// The context of the new clusters of `cluster`.
PassContext MakeContext(const std::string& cluster, std::unique_ptr<Graph>* graph, FunctionLibraryDefinition* library) {
  Settings settings = Settings::FromEnvironment();
  settings.cluster_fuel = -1;  // the cluster has already been counted
  const absl::string_view graph_name = absl::StripPrefix(cluster, kClusterPrefix);
  return PassContext(graph, library, AsNodeName({graph_name.data(), graph_name.size()}), settings);
}

// Makes clusters of the marked nodes, and adds the function to the library.
absl::Status AddSplit(const std::string& cluster, PassContext* context, SplitCluster* result) {
  HPU_RETURN_IF_ERROR(SegmentGraph(context));
  HPU_RETURN_IF_ERROR(EncapsulateClusters(context));
  if (context->must_compile) {
    for (Node* node : (*context->graph)->op_nodes()) {
      if (node->type_string() == kLaunchOp) node->AddAttr("must_compile", true);
    }
  }
  result->function = FreeName(absl::StrCat(cluster, "_split_"), *context->library);
  result->clusters = static_cast<int>(context->report.clusters_size());
  FunctionDef split;
  HPU_RETURN_IF_ERROR(tensorflow::GraphToFunctionDef(**context->graph, result->function, &split));
  return context->library->AddFunctionDef(split);
}

}  // namespace

absl::StatusOr<SplitCluster> ReclusterWithout(const std::string& cluster, const std::vector<std::string>& refused,
                                              const std::string& device, FunctionLibraryDefinition* library) {
  HPU_ASSIGN_OR_RETURN(std::unique_ptr<Graph> graph, GraphOf(cluster, *library));
  SplitCluster result;
  const absl::StatusOr<std::vector<std::string>> removed =
      MarkAllBut(Names(refused.begin(), refused.end()), device, *library, graph.get());
  if (removed.ok()) result.removed = *removed;
  if (result.removed.empty()) result.removed = RemoveBoundedResults(*library, graph.get());
  if (result.removed.empty()) result.removed = SeparateJitCalls(graph.get());
  if (result.removed.empty()) {
    HPU_RETURN_IF_ERROR(removed.status());
    return absl::InvalidArgumentError(
        absl::StrCat("cluster ", cluster, " contains none of the ops to remove: ", absl::StrJoin(refused, ", ")));
  }
  PassContext context = MakeContext(cluster, &graph, library);
  HPU_RETURN_IF_ERROR(AddSplit(cluster, &context, &result));
  return result;
}

absl::StatusOr<SplitCluster> ReclusterRandomOps(const std::string& function, const std::string& device,
                                                FunctionLibraryDefinition* library) {
  HPU_ASSIGN_OR_RETURN(std::unique_ptr<Graph> graph, GraphOf(function, *library));
  HPU_RETURN_IF_ERROR(ExpandRandomFunctions(&graph, library));
  SplitCluster result;
  for (Node* node : graph->op_nodes()) {
    node->set_requested_device(device);
    node->set_assigned_device_name(device);
    if (DrawsByKernel(node->def())) result.removed.push_back(node->name());
  }
  if (result.removed.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("function ", function, " contains no random op"));
  }
  PassContext context = MakeContext(function, &graph, library);
  context.must_compile = true;
  tensorflow::FixupSourceAndSinkEdges(graph.get());
  HPU_RETURN_IF_ERROR(RewriteRandomOps(&context));
  const bool lowered = HasLoweredControlFlow(*graph);
  for (Node* node : graph->op_nodes()) {
    if (!StaysOutside(*node, lowered)) node->AddAttr(kCandidateAttr, true);
  }
  tensorflow::FixupSourceAndSinkEdges(graph.get());
  HPU_RETURN_IF_ERROR(AddSplit(function, &context, &result));
  return result;
}

}  // namespace hpu::passes
