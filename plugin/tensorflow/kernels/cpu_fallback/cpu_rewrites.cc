#include "plugin/tensorflow/kernels/cpu_fallback/cpu_rewrites.h"

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"
#include "plugin/compat/function_bodies.h"
#include "plugin/compat/graph_rewrites.h"
#include "plugin/passes/functions/function_rewriter.h"
#include "plugin/passes/functions/functional_control_flow.h"
#include "plugin/tensorflow/fused/written_out.h"
#include "tensorflow/core/common_runtime/optimization_registry.h"
#include "tensorflow/core/protobuf/config.pb.h"
#include "tensorflow/core/protobuf/rewriter_config.pb.h"

namespace hpu {
namespace {

using tensorflow::FunctionDef;
using tensorflow::FunctionLibraryDefinition;
using tensorflow::Graph;
using tensorflow::Node;
using tensorflow::NodeDef;

const char* const kLowerAttr = tensorflow::LowerFunctionalOpsPass::kLowerUsingSwitchMergeAttr;

bool HasControlFlow(const FunctionDef& function) {
  return absl::c_any_of(function.node_def(), [](const NodeDef& node) { return passes::IsFunctionalControlFlow(node); });
}

// TensorFlow's lowering of loops fails for conditions of other types than bool.
bool HasBoolCondition(const NodeDef& node, const FunctionLibraryDefinition& library) {
  const auto found = node.attr().find("cond");
  if (found == node.attr().end()) return true;  // a branch
  const FunctionDef* const condition = library.Find(found->second.func().name());
  return condition != nullptr && condition->signature().output_arg(0).type() == tensorflow::DT_BOOL;
}

bool IsTrue(const NodeDef& node, const char* attribute) {
  const auto found = node.attr().find(attribute);
  return found != node.attr().end() && found->second.b();
}

NodeDef ToBool(std::string name, std::string input, tensorflow::DataType type) {
  NodeDef node;
  node.set_name(std::move(name));
  node.set_op("ToBool");
  node.add_input(std::move(input));
  (*node.mutable_attr())["T"].set_type(type);
  return node;
}

std::string ResultOf(const NodeDef& to_bool) { return absl::StrCat(to_bool.name(), ":output:0"); }

// Converts a branch's predicate, which may have any type and shape, to a bool scalar.
void ConvertPredicate(NodeDef* branch, FunctionDef* function) {
  const NodeDef to_bool =
      ToBool(absl::StrCat(branch->name(), "/to_bool"), branch->input(0), branch->attr().at("Tcond").type());
  branch->set_input(0, ResultOf(to_bool));
  (*branch->mutable_attr())["Tcond"].set_type(tensorflow::DT_BOOL);
  *function->add_node_def() = to_bool;
}

// Replaces a loop's condition by a function whose result is a bool scalar.
absl::Status ConvertCondition(FunctionLibraryDefinition* library, NodeDef* loop) {
  tensorflow::NameAttrList* const call = (*loop->mutable_attr())["cond"].mutable_func();
  const FunctionDef* const condition = library->Find(call->name());
  if (condition == nullptr) return absl::NotFoundError(absl::StrCat(loop->name(), ": no function ", call->name()));
  FunctionDef converted = *condition;
  converted.mutable_signature()->set_name(library->UniqueFunctionName(absl::StrCat(call->name(), "_to_bool_")));
  tensorflow::OpDef::ArgDef* const result = converted.mutable_signature()->mutable_output_arg(0);
  std::string& source = (*converted.mutable_ret())[result->name()];
  const NodeDef to_bool = ToBool("habana_to_bool", source, result->type());
  source = ResultOf(to_bool);
  result->set_type(tensorflow::DT_BOOL);
  *converted.add_node_def() = to_bool;
  call->set_name(converted.signature().name());
  return library->AddFunctionDef(converted);
}

// Marks loops and branches, so that they are lowered. Branches and loops that TensorFlow does not lower accept
// conditions of any type and shape.
absl::Status Mark(FunctionLibraryDefinition* library, FunctionDef* function) {
  for (int i = 0, end = function->node_def_size(); i < end; ++i) {
    NodeDef copy = function->node_def(i);
    if (!passes::IsFunctionalControlFlow(copy)) continue;
    if (IsTrue(copy, kLowerAttr) || IsTrue(copy, passes::kScalarConditionAttr)) {
      if (!HasBoolCondition(copy, *library)) continue;
    } else if (copy.attr().contains("Tcond")) {
      ConvertPredicate(&copy, function);
    } else if (copy.attr().contains("cond")) {
      HPU_RETURN_IF_ERROR(ConvertCondition(library, &copy));
    }
    (*copy.mutable_attr())[kLowerAttr].set_b(true);
    *function->mutable_node_def(i) = std::move(copy);
  }
  return absl::OkStatus();
}

absl::Status MarkAll(FunctionLibraryDefinition* library) {
  for (const std::string& name : library->ListFunctionNames()) {
    if (!HasControlFlow(*library->Find(name))) continue;
    FunctionDef marked = *library->Find(name);
    HPU_RETURN_IF_ERROR(Mark(library, &marked));
    HPU_RETURN_IF_ERROR(library->ReplaceFunction(name, marked));
  }
  return absl::OkStatus();
}

// The rewrites remove nodes, among them control results. Returns the function's control results as nodes that stay.
absl::StatusOr<FunctionDef> WithLastingResults(const FunctionDef& function, Graph* graph) {
  FunctionDef lasting = function;
  std::map<std::string, Node*> nodes;
  for (Node* node : graph->op_nodes()) nodes[node->name()] = node;
  for (auto& [result, name] : *lasting.mutable_control_ret()) {
    NodeDef after;
    after.set_name(graph->NewName(name + "/done"));
    after.set_op("NoOp");
    HPU_ASSIGN_OR_RETURN(Node * node, graph->AddNode(std::move(after)));
    if (const auto found = nodes.find(name); found != nodes.end()) graph->AddControlEdge(found->second, node);
    name = node->name();
  }
  return lasting;
}

absl::Status LowerControlFlow(std::unique_ptr<Graph>* graph, FunctionLibraryDefinition* library) {
  tensorflow::GraphOptimizationPassOptions options;
  options.graph = graph;
  options.flib_def = library;
  return tensorflow::LowerFunctionalOpsPass().Run(options);
}

// Runs Grappler's remapper, which fuses ops for the CPU.
absl::Status FuseOps(const FunctionDef& function, std::unique_ptr<Graph>* graph, FunctionLibraryDefinition* library,
                     tensorflow::Device* cpu) {
  std::vector<std::string> results, kept;
  for (Node* node : (*graph)->op_nodes()) {
    node->set_requested_device(cpu->name());
    if (node->IsRetval()) results.push_back(node->name());
  }
  for (const auto& [result, name] : function.control_ret()) kept.push_back(name);
  tensorflow::DeviceSet devices;
  devices.AddDevice(cpu);
  devices.set_client_device(cpu);
  tensorflow::ConfigProto config;
  tensorflow::RewriterConfig* rewriter = config.mutable_graph_options()->mutable_rewrite_options();
  rewriter->add_optimizers("remap");
  rewriter->set_min_graph_nodes(-1);  // no graph is too small
  rewriter->set_meta_optimizer_iterations(tensorflow::RewriterConfig::ONE);
  return tensorflow::grappler::OptimizeGraph(std::move(results), std::move(kept), library, devices, cpu, config,
                                             function.signature().name(), {}, graph);
}

absl::Status UseOneDnn(std::unique_ptr<Graph>* graph, FunctionLibraryDefinition* library) {
  using Registry = tensorflow::OptimizationPassRegistry;
  std::unordered_map<std::string, std::unique_ptr<Graph>> partitions;
  std::unique_ptr<Graph>& partition = partitions["cpu"];
  partition = std::move(*graph);
  tensorflow::GraphOptimizationPassOptions options;
  options.partition_graphs = &partitions;
  options.flib_def = library;
  options.is_function_graph = true;
  for (const auto& [phase, passes] : Registry::Global()->groups().at(Registry::POST_PARTITIONING)) {
    for (const auto& pass : passes) {
      if (pass->name() == "MklLayoutRewritePass") HPU_RETURN_IF_ERROR(pass->Run(options));
    }
  }
  *graph = std::move(partition);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<FunctionDef> WithCpuRewrites(const FunctionDef& function, FunctionLibraryDefinition* library,
                                            tensorflow::Device* cpu) {
  HPU_RETURN_IF_ERROR(MarkAll(library));
  FunctionDef marked = function;
  HPU_RETURN_IF_ERROR(Mark(library, &marked));
  HPU_ASSIGN_OR_RETURN(const std::unique_ptr<tensorflow::FunctionBody> body, MakeFunctionBody(marked, *library));
  auto graph = std::make_unique<Graph>(library);
  tensorflow::CopyGraph(*body->graph, graph.get());
  HPU_ASSIGN_OR_RETURN(const FunctionDef lasting, WithLastingResults(function, graph.get()));
  if (HasControlFlow(function)) HPU_RETURN_IF_ERROR(LowerControlFlow(&graph, library));
  HPU_RETURN_IF_ERROR(WriteOutFusedOps(graph.get()));
  HPU_RETURN_IF_ERROR(FuseOps(lasting, &graph, library, cpu));
  HPU_RETURN_IF_ERROR(UseOneDnn(&graph, library));
  return passes::FunctionLike(lasting, *graph, function.signature().name());
}

}  // namespace hpu
