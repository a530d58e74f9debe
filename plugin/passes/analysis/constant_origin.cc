#include "plugin/passes/analysis/constant_origin.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "plugin/base/status_macros.h"
#include "plugin/compat/cluster_analysis.h"
#include "plugin/compat/function_bodies.h"
#include "plugin/op_facts/op_facts.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/graph/algorithm.h"

namespace hpu::passes {
namespace {

using tensorflow::FunctionLibraryDefinition;
using tensorflow::Node;

// Whether an argument is an integer or boolean, like sizes and positions. Floating-point arguments are data.
bool IsSizeLike(const Node& node) {
  return std::all_of(node.output_types().begin(), node.output_types().end(), [](tensorflow::DataType type) {
    return type == tensorflow::DT_INT32 || type == tensorflow::DT_INT64 || type == tensorflow::DT_BOOL;
  });
}

bool ReadsShape(const std::string& op) { return tensorflow::XlaOpRegistry::IsMetadataOp(op) || op == "VariableShape"; }

// Whether results of the op are no compile-time constants, even if all operands are known.
bool HasNoCompileTimeValue(const std::string& op) {
  const OpFacts& facts = FactsOf(op);
  return facts.unevaluated || facts.random != RandomNumbers::kNone;
}

// Whether a node is such an op, or has a function with such an op.
class Evaluation {
 public:
  explicit Evaluation(const FunctionLibraryDefinition& library) : library_(library) {}

  bool Refuses(const std::string& op, const tensorflow::AttrSlice& attrs) {
    if (HasNoCompileTimeValue(op) || RefusesFunction(op)) return true;
    return absl::c_any_of(attrs, [&](const auto& attribute) {
      const tensorflow::AttrValue& value = attribute.second;
      return (value.has_func() && RefusesFunction(value.func().name())) ||
             absl::c_any_of(value.list().func(),
                            [&](const auto& function) { return RefusesFunction(function.name()); });
    });
  }

 private:
  bool RefusesFunction(const std::string& name) {
    const tensorflow::FunctionDef* const function = library_.Find(name);
    if (function == nullptr) return false;
    if (const auto [found, is_new] = functions_.try_emplace(name, false); !is_new) return found->second;
    const bool refuses = absl::c_any_of(function->node_def(), [&](const tensorflow::NodeDef& node) {
      return Refuses(node.op(), tensorflow::AttrSlice(node));
    });
    return functions_[name] = refuses;
  }

  const FunctionLibraryDefinition& library_;
  absl::flat_hash_map<std::string, bool> functions_;
};

Origin OwnOrigin(const Node& node) {
  if (node.IsConstant()) return Origin::kConstant;
  if (node.IsArg() || node.type_string() == "Placeholder") return IsSizeLike(node) ? Origin::kArgument : Origin::kData;
  if (node.IsMerge()) return Origin::kLoop;
  if (node.op_def().is_stateful()) return Origin::kData;
  return Origin::kConstant;
}

// Whether a slice takes one element, or all elements, of each dimension, like x[:, i].
bool TakesElements(const Node& slice) {
  int64_t taken = 0;  // a bit for each index
  for (const char* mask : {"shrink_axis_mask", "ellipsis_mask", "new_axis_mask"}) {
    int64_t bits = 0;
    tensorflow::TryGetNodeAttr(slice.attrs(), mask, &bits);
    taken |= bits;
  }
  int64_t begin = 0, end = 0;
  tensorflow::TryGetNodeAttr(slice.attrs(), "begin_mask", &begin);
  tensorflow::TryGetNodeAttr(slice.attrs(), "end_mask", &end);
  taken |= begin & end;
  return (taken & (taken + 1)) == 0;  // all lower bits are set
}

// Whether the gradient of x[i] gets its index by this edge. The compiler uses the index if it is constant, but needs it
// not.
bool IsIndexOfElement(const tensorflow::Edge& edge) {
  constexpr int kBegin = 1, kEnd = 2;
  return edge.dst()->type_string() == "StridedSliceGrad" && (edge.dst_input() == kBegin || edge.dst_input() == kEnd) &&
         TakesElements(*edge.dst());
}

// Adds the inputs that the function in `attribute` requires as compile-time constants. Argument i of the function is
// input `first_input` + i of the node.
tensorflow::Status AddBodyConstants(const Node& node, const char* attribute, int first_input,
                                    tensorflow::FunctionLibraryRuntime* runtime, std::vector<int>* inputs) {
  tensorflow::NameAttrList function;
  HPU_RETURN_IF_ERROR(tensorflow::GetNodeAttr(node.attrs(), attribute, &function));
  HPU_ASSIGN_OR_RETURN(const FunctionConstants found, FindFunctionConstants(function, runtime));
  for (const int constant : found.constants) inputs->push_back(first_input + constant);
  return tensorflow::OkStatus();
}

// The inputs among `inputs`, which a loop's body requires as constants, that it does not require for indices of
// elements alone.
absl::StatusOr<std::vector<int>> WithoutIndicesOfElements(const Node& loop, std::vector<int> inputs,
                                                          tensorflow::FunctionLibraryRuntime* runtime) {
  const bool any_list =
      absl::c_any_of(inputs, [&](int input) { return loop.input_type(input) == tensorflow::DT_VARIANT; });
  if (!any_list) return inputs;  // the gradient of a loop gets its indices in lists
  tensorflow::NameAttrList function;
  HPU_RETURN_IF_ERROR(tensorflow::GetNodeAttr(loop.attrs(), "body", &function));
  HPU_ASSIGN_OR_RETURN(const tensorflow::FunctionBody* body,
                       InstantiateBody(function.name(), tensorflow::AttrSlice(&function.attr()), runtime));
  HPU_ASSIGN_OR_RETURN(const std::vector<bool> constants,
                       FindConstantArguments(*body->graph, body->arg_nodes.size(), runtime,
                                             [](const tensorflow::Edge& edge) { return !IsIndexOfElement(edge); }));
  std::vector<int> kept;
  absl::c_copy_if(inputs, std::back_inserter(kept), [&](int input) { return constants[input]; });
  return kept;
}

}  // namespace

std::vector<Origin> FindOrigins(const tensorflow::Graph& graph, bool is_body) {
  std::vector<Node*> order;
  tensorflow::GetReversePostOrder(graph, &order, tensorflow::NodeComparatorID(),
                                  [](const tensorflow::Edge& edge) { return !edge.src()->IsNextIteration(); });
  std::vector<Origin> origins(graph.num_node_ids(), Origin::kConstant);
  Evaluation evaluation(graph.flib_def());
  for (const Node* node : order) {
    if (!node->IsOp()) continue;
    Origin origin = is_body && node->IsArg() ? Origin::kArgument : OwnOrigin(*node);
    if (ReadsShape(node->type_string())) {
      origin = Origin::kStatic;
    } else {
      for (const tensorflow::Edge* edge : node->in_edges()) {
        if (!edge->IsControlEdge()) origin = std::max(origin, origins[edge->src()->id()]);
      }
      if (origin > Origin::kConstant && origin < Origin::kData &&
          evaluation.Refuses(node->type_string(), node->attrs())) {
        origin = Origin::kData;
      }
    }
    origins[node->id()] = origin;
  }
  return origins;
}

absl::StatusOr<Origin> OriginOfConstants(const Node& node, const std::vector<Origin>& origins,
                                         tensorflow::FunctionLibraryRuntime* runtime) {
  HPU_ASSIGN_OR_RETURN(const std::vector<int> inputs, CompileTimeConstantInputs(node, runtime));
  Origin worst = Origin::kConstant;
  for (const int input : inputs) {
    const Node* source = nullptr;
    HPU_RETURN_IF_ERROR(node.input_node(input, &source));
    worst = std::max(worst, origins[source->id()]);
  }
  return worst;
}

absl::StatusOr<std::vector<int>> CompileTimeConstantInputs(const Node& node,
                                                           tensorflow::FunctionLibraryRuntime* runtime) {
  std::vector<int> inputs;
  if (node.IsWhileNode()) {
    HPU_RETURN_IF_ERROR(AddBodyConstants(node, "cond", 0, runtime, &inputs));
    std::vector<int> of_body;
    HPU_RETURN_IF_ERROR(AddBodyConstants(node, "body", 0, runtime, &of_body));
    HPU_ASSIGN_OR_RETURN(of_body, WithoutIndicesOfElements(node, std::move(of_body), runtime));
    inputs.insert(inputs.end(), of_body.begin(), of_body.end());
  } else if (node.IsIfNode()) {
    HPU_RETURN_IF_ERROR(AddBodyConstants(node, "then_branch", 1, runtime, &inputs));
    HPU_RETURN_IF_ERROR(AddBodyConstants(node, "else_branch", 1, runtime, &inputs));
  } else if (node.IsPartitionedCall()) {
    HPU_RETURN_IF_ERROR(AddBodyConstants(node, "f", 0, runtime, &inputs));
  } else if (!node.IsFunctionCall() && !node.IsCaseNode()) {
    HPU_RETURN_IF_ERROR(tensorflow::XlaOpRegistry::CompileTimeConstantInputs(node.def(), node.op_def(), &inputs));
  }
  std::sort(inputs.begin(), inputs.end());
  inputs.erase(std::unique(inputs.begin(), inputs.end()), inputs.end());
  return inputs;
}

}  // namespace hpu::passes
