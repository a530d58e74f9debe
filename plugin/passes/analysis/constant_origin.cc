#include "plugin/passes/analysis/constant_origin.h"

#include <algorithm>

#include "plugin/compat/tf_2_15/cluster_analysis.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tsl/platform/errors.h"
#include "tsl/platform/statusor.h"

namespace hpu::passes {
namespace {

using tensorflow::Node;

// Whether an argument is an integer or boolean, like sizes and positions. Floating-point arguments are data.
bool IsSizeLike(const Node& node) {
  return std::all_of(node.output_types().begin(), node.output_types().end(), [](tensorflow::DataType type) {
    return type == tensorflow::DT_INT32 || type == tensorflow::DT_INT64 || type == tensorflow::DT_BOOL;
  });
}

Origin OwnOrigin(const Node& node) {
  if (node.IsConstant()) return Origin::kStatic;
  if (node.IsArg() || node.type_string() == "Placeholder") return IsSizeLike(node) ? Origin::kArgument : Origin::kData;
  if (node.IsMerge()) return Origin::kLoop;
  if (node.op_def().is_stateful()) return Origin::kData;
  return Origin::kStatic;
}

// Adds the inputs that the function in `attribute` requires as compile-time constants. Argument i of the function is
// input `first_input` + i of the node.
tensorflow::Status AddBodyConstants(const Node& node, const char* attribute, int first_input,
                                    tensorflow::FunctionLibraryRuntime* runtime, std::vector<int>* inputs) {
  tensorflow::NameAttrList function;
  TF_RETURN_IF_ERROR(tensorflow::GetNodeAttr(node.attrs(), attribute, &function));
  TF_ASSIGN_OR_RETURN(const FunctionConstants found, FindFunctionConstants(function, runtime));
  for (const int constant : found.constants) inputs->push_back(first_input + constant);
  return tensorflow::OkStatus();
}

}  // namespace

std::vector<Origin> FindOrigins(const tensorflow::Graph& graph, const std::vector<Node*>& order) {
  std::vector<Origin> origins(graph.num_node_ids(), Origin::kStatic);
  for (const Node* node : order) {
    if (!node->IsOp()) continue;
    Origin origin = OwnOrigin(*node);
    if (!tensorflow::XlaOpRegistry::IsMetadataOp(node->type_string())) {
      for (const tensorflow::Edge* edge : node->in_edges()) {
        if (!edge->IsControlEdge()) origin = std::max(origin, origins[edge->src()->id()]);
      }
    }
    origins[node->id()] = origin;
  }
  return origins;
}

absl::StatusOr<std::vector<int>> CompileTimeConstantInputs(const Node& node,
                                                           tensorflow::FunctionLibraryRuntime* runtime) {
  std::vector<int> inputs;
  if (node.IsWhileNode()) {
    TF_RETURN_IF_ERROR(AddBodyConstants(node, "cond", 0, runtime, &inputs));
    TF_RETURN_IF_ERROR(AddBodyConstants(node, "body", 0, runtime, &inputs));
  } else if (node.IsIfNode()) {
    TF_RETURN_IF_ERROR(AddBodyConstants(node, "then_branch", 1, runtime, &inputs));
    TF_RETURN_IF_ERROR(AddBodyConstants(node, "else_branch", 1, runtime, &inputs));
  } else if (node.IsPartitionedCall()) {
    TF_RETURN_IF_ERROR(AddBodyConstants(node, "f", 0, runtime, &inputs));
  } else if (!node.IsFunctionCall() && !node.IsCaseNode()) {
    TF_RETURN_IF_ERROR(tensorflow::XlaOpRegistry::CompileTimeConstantInputs(node.def(), node.op_def(), &inputs));
  }
  std::sort(inputs.begin(), inputs.end());
  inputs.erase(std::unique(inputs.begin(), inputs.end()), inputs.end());
  return inputs;
}

}  // namespace hpu::passes
