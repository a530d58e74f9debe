#include "plugin/passes/patterns/in_place_pass.h"

#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"
#include "plugin/passes/graph/graph_util.h"
#include "plugin/passes/graph/node_maker.h"
#include "tensorflow/core/common_runtime/optimization_registry.h"
#include "tensorflow/core/framework/node_def_util.h"

namespace hpu::passes {
namespace {

using tensorflow::FunctionDef;
using tensorflow::FunctionLibraryDefinition;
using tensorflow::Graph;
using tensorflow::Node;
using tensorflow::NodeDef;

bool IsInPlace(const std::string& op) { return op == "ParallelConcat" || op == "AccumulateNV2"; }

NodeDef Zero(const std::string& name, const std::string& device) {
  NodeDef zero;
  zero.set_name(name);
  zero.set_op("Const");
  zero.set_device(device);
  tensorflow::Tensor value(tensorflow::DT_INT32, {});
  value.scalar<int32_t>()() = 0;
  tensorflow::AddNodeAttr("dtype", tensorflow::DT_INT32, &zero);
  tensorflow::AddNodeAttr("value", value, &zero);
  return zero;
}

// ConcatV2 requires at least two values.
bool BecomesConcat(const NodeDef& node) { return node.op() == "ParallelConcat" && node.attr().at("N").i() > 1; }

// Changes a node to the equivalent op without in-place writes. The caller adds the axis of ConcatV2.
void ReplaceByUpdate(NodeDef* node) {
  node->mutable_attr()->erase("shape");
  if (BecomesConcat(*node)) {
    node->set_op("ConcatV2");
    tensorflow::AddNodeAttr("Tidx", tensorflow::DT_INT32, node);
  } else if (node->op() == "ParallelConcat") {
    node->set_op("Identity");
    node->mutable_attr()->erase("N");
  } else {
    node->set_op("AddN");
  }
}

absl::Status ReplaceInGraph(Graph* graph) {
  std::vector<Node*> found;
  for (Node* node : graph->op_nodes()) {
    if (IsInPlace(node->type_string())) found.push_back(node);
  }
  for (Node* node : found) {
    const bool concat = BecomesConcat(node->def());
    NodeDef definition = node->def();
    ReplaceByUpdate(&definition);
    definition.clear_input();
    std::vector<tensorflow::OutputTensor> inputs;
    for (int i = 0; i < node->num_inputs(); ++i) inputs.push_back(InputOf(*node, i));
    std::vector<Node*> before;
    for (const tensorflow::Edge* edge : node->in_edges()) {
      if (edge->IsControlEdge()) before.push_back(edge->src());
    }
    if (concat) {
      const std::string name = graph->NewName(absl::StrCat(node->name(), "/axis"));
      HPU_ASSIGN_OR_RETURN(Node * axis, graph->AddNode(Zero(name, node->requested_device())));
      inputs.emplace_back(axis, 0);
    }
    HPU_ASSIGN_OR_RETURN(Node * replacement, graph->AddNode(std::move(definition)));
    for (size_t i = 0; i < inputs.size(); ++i) {
      graph->AddEdge(inputs[i].node, inputs[i].index, replacement, static_cast<int>(i));
    }
    for (Node* source : before) graph->AddControlEdge(source, replacement, /*allow_duplicates=*/true);
    MoveConsumers(graph, node, replacement);
    graph->RemoveNode(node);
  }
  return absl::OkStatus();
}

absl::Status ReplaceInFunction(const std::string& name, FunctionLibraryDefinition* library) {
  const FunctionDef* found = library->Find(name);
  const auto in_place = [](const NodeDef& node) { return IsInPlace(node.op()); };
  if (!absl::c_any_of(found->node_def(), in_place)) return absl::OkStatus();
  FunctionDef function = *found;
  for (int i = 0; i < found->node_def_size(); ++i) {
    NodeDef* const node = function.mutable_node_def(i);
    if (!in_place(*node)) continue;
    if (BecomesConcat(*node)) {
      const NodeDef axis = Zero(absl::StrCat(node->name(), "/axis"), node->device());
      node->add_input(absl::StrCat(axis.name(), ":output:0"));
      // Control inputs come last.
      for (int last = node->input_size() - 1; last > node->attr().at("N").i(); --last) {
        node->mutable_input()->SwapElements(last, last - 1);
      }
      *function.add_node_def() = axis;
    }
    ReplaceByUpdate(function.mutable_node_def(i));
  }
  return library->ReplaceFunction(name, function);
}

}  // namespace

absl::Status ReplaceInPlaceOps(Graph* graph, FunctionLibraryDefinition* library) {
  HPU_RETURN_IF_ERROR(ReplaceInGraph(graph));
  for (const std::string& name : library->ListFunctionNames()) HPU_RETURN_IF_ERROR(ReplaceInFunction(name, library));
  return absl::OkStatus();
}

tensorflow::Status RunInPlacePass(const tensorflow::GraphOptimizationPassOptions& options) {
  if (!MayUseHpu(options)) return tensorflow::OkStatus();
  return ReplaceInPlaceOps(options.graph->get(), options.flib_def);
}

}  // namespace hpu::passes
