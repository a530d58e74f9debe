#include "plugin/passes/analysis/list_lengths.h"

#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"
#include "plugin/passes/functions/loop_functions.h"
#include "plugin/passes/graph/graph_util.h"
#include "tensorflow/core/framework/node_def_util.h"

namespace hpu::passes {
namespace {

using tensorflow::Edge;
using tensorflow::Node;

// The edge from the node that computes an input, skipping identities; null if an input is not connected.
const Edge* OriginOf(const Node& node, int input) {
  const Edge* edge = nullptr;
  if (!node.input_edge(input, &edge).ok()) return nullptr;
  while (edge->src()->IsIdentity()) {
    if (!edge->src()->input_edge(0, &edge).ok()) return nullptr;
  }
  return edge;
}

}  // namespace

absl::StatusOr<bool> SetLengthsOfStacks(tensorflow::Graph* graph, const tensorflow::FunctionLibraryDefinition& library,
                                        KnownNumbers* known) {
  bool changed = false;
  for (Node* stack : graph->op_nodes()) {
    int64_t length = 0;
    if (stack->type_string() != "TensorListStack" ||
        !tensorflow::TryGetNodeAttr(stack->attrs(), "num_elements", &length) || length >= 0) {
      continue;
    }
    const Edge* list = OriginOf(*stack, 0);
    if (list == nullptr || !list->src()->IsWhileNode()) continue;
    const Node* reserve = SourceOf(*list->src(), list->src_output());
    if (reserve == nullptr || reserve->type_string() != "TensorListReserve") continue;
    const std::optional<int64_t> size = known->Scalar(SourceOf(*reserve, 1));
    if (!size.has_value() || *size < 0) continue;
    HPU_ASSIGN_OR_RETURN(const auto body, LoopFunction(*list->src(), "body", library));
    if (!KeepsLength(*body, list->src_output())) continue;
    stack->ClearAttr("num_elements");
    stack->AddAttr("num_elements", *size);
    changed = true;
  }
  return changed;
}

std::vector<LoopList> CreatedLists(const Node& loop, std::string_view op) {
  std::vector<LoopList> found;
  for (int i = 0; i < loop.num_inputs(); ++i) {
    Node* list = nullptr;
    if (loop.input_type(i) != tensorflow::DT_VARIANT || !loop.input_node(i, &list).ok()) continue;
    if (list->type_string() == op) found.push_back({list, i});
  }
  return found;
}

bool KeepsLength(const tensorflow::FunctionBody& body, int index) {
  const Node* set = SourceOf(*body.ret_nodes[index], 0);
  bool grows = false;
  return set != nullptr && set->type_string() == "TensorListSetItem" && SourceOf(*set, 0) == body.arg_nodes[index] &&
         !(tensorflow::TryGetNodeAttr(set->attrs(), "resize_if_index_out_of_bounds", &grows) && grows);
}

absl::StatusOr<Node*> AddLength(tensorflow::Graph* graph, const Node& list, std::string_view suffix, int32_t length) {
  tensorflow::Tensor value(tensorflow::DT_INT32, {});
  value.scalar<int32_t>()() = length;
  tensorflow::NodeDef constant;
  constant.set_name(graph->NewName(absl::StrCat(list.name(), suffix)));
  constant.set_op("Const");
  constant.set_device(list.requested_device());
  tensorflow::AddNodeAttr("dtype", tensorflow::DT_INT32, &constant);
  tensorflow::AddNodeAttr("value", value, &constant);
  return graph->AddNode(std::move(constant));
}

}  // namespace hpu::passes
