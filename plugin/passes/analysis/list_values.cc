#include "plugin/passes/analysis/list_values.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"
#include "plugin/passes/analysis/list_lengths.h"
#include "plugin/passes/functions/loop_functions.h"
#include "plugin/passes/graph/graph_util.h"
#include "tensorflow/core/framework/node_def_util.h"

namespace hpu::passes {
namespace {

using tensorflow::DataType;
using tensorflow::Edge;
using tensorflow::FunctionBody;
using tensorflow::Node;
using tensorflow::Tensor;

// The numbers as a vector, or the single number as a scalar. nullopt for types other than int32 and int64.
std::optional<Tensor> TensorOf(const std::vector<int64_t>& numbers, DataType type, bool scalar) {
  if (type != tensorflow::DT_INT32 && type != tensorflow::DT_INT64) return std::nullopt;
  tensorflow::TensorShape shape;
  if (!scalar) shape.AddDim(static_cast<int64_t>(numbers.size()));
  Tensor tensor(type, shape);
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (type == tensorflow::DT_INT32) tensor.flat<int32_t>()(i) = static_cast<int32_t>(numbers[i]);
    if (type == tensorflow::DT_INT64) tensor.flat<int64_t>()(i) = numbers[i];
  }
  return tensor;
}

// The length or element shape of a list that each iteration pushes onto another list.
struct Pushed {
  bool is_length = false;
  std::optional<Tensor> value;  // unknown sizes of elements are -1
  bool keeps_length = false;    // the loop writes elements of the list, and never extends it
};

// The value is exact if it is the length or element shape of a TensorListFromTensor whose sizes are known. An element
// shape of unknown rank is -1.
Pushed PushedValue(const Node& loop, const FunctionBody& body, int index, KnownNumbers* known) {
  const Node* value = SourceOf(*SourceOf(*body.ret_nodes[index], 0), 1);
  if (value == nullptr) return {};
  const bool length = value->type_string() == "TensorListLength";
  if (!length && value->type_string() != "TensorListElementShape") return {};
  const Pushed unknown{length, length ? std::nullopt : TensorOf({-1}, value->output_type(0), /*scalar=*/true)};
  const int list = LoopValueOf(body, SourceOf(*value, 0));
  if (list < 0) return unknown;
  if (length && KeepsLength(body, list)) return {true, std::nullopt, /*keeps_length=*/true};
  if (!IsInvariant(body, list)) return unknown;
  const Node* source = SourceOf(loop, list);
  if (source == nullptr || source->type_string() != "TensorListFromTensor") return unknown;
  const std::vector<int64_t>& sizes = known->SizesOfInput(*source, 0);
  if (sizes.empty() || (length && sizes[0] < 0)) return unknown;
  if (length) return {length, TensorOf({sizes[0]}, value->output_type(0), /*scalar=*/true)};
  return {length, TensorOf({sizes.begin() + 1, sizes.end()}, value->output_type(0), /*scalar=*/false)};
}

// Finds the loop inputs that a result reaches, directly or through identities.
void FindLoopInputs(const Node& node, int output, std::vector<std::pair<Node*, int>>* found) {
  for (const Edge* edge : OutEdges(node)) {
    if (edge->src_output() != output) continue;
    if (edge->dst()->IsWhileNode()) found->push_back({edge->dst(), edge->dst_input()});
    if (edge->dst()->IsIdentity()) FindLoopInputs(*edge->dst(), 0, found);
  }
}

// Whether an iteration pops from the list once and passes the remaining list on.
bool Pops(const FunctionBody& body, int index, const Node* pop) {
  return pop->type_string() == "TensorListPopBack" && SourceOf(*body.ret_nodes[index], 0) == pop;
}

// Whether the op accepts -1 for an unknown size in this input, the element shape of a list.
bool TakesPartialShape(const Edge& use) {
  const std::string& op = use.dst()->type_string();
  return (use.dst_input() == 0 && (op == "TensorListReserve" || op == "EmptyTensorList")) ||
         (use.dst_input() == 1 && (op == "TensorListStack" || op == "TensorListPopBack")) ||
         (use.dst_input() == 2 && op == "TensorListGetItem");
}

bool IsPartial(const Tensor& shape) {
  const auto negative = [](int64_t size) { return size < 0; };
  if (shape.dtype() == tensorflow::DT_INT32) {
    const auto sizes = shape.flat<int32_t>();
    return std::any_of(sizes.data(), sizes.data() + sizes.size(), negative);
  }
  const auto sizes = shape.flat<int64_t>();
  return std::any_of(sizes.data(), sizes.data() + sizes.size(), negative);
}

absl::StatusOr<Node*> AddConstant(const FunctionBody& body, const Node& pop, const Tensor& value) {
  tensorflow::NodeDef definition;
  definition.set_name(body.graph->NewName(absl::StrCat(pop.name(), "/known")));
  definition.set_op("Const");
  tensorflow::AddNodeAttr("dtype", value.dtype(), &definition);
  tensorflow::AddNodeAttr("value", value, &definition);
  return body.graph->AddNode(std::move(definition));
}

// The argument from which a list comes, if the body only sets elements of it; null otherwise.
Node* ArgumentOf(const FunctionBody& body, const Node* list) {
  while (list != nullptr && list->type_string() == "TensorListSetItem") list = SourceOf(*list, 0);
  const int value = LoopValueOf(body, list);
  return value >= 0 ? body.arg_nodes[value] : nullptr;
}

// The argument that the body adds to a list of the length in `use`; null without one. The gradient of a read element is
// a new list of zeros with this element set, which the body adds to the gradient of the whole list. Lists that are
// added have equal lengths.
Node* AddedTo(const FunctionBody& body, const Edge& use) {
  if (use.dst()->type_string() != "TensorListReserve" || use.dst_input() != 1) return nullptr;
  for (const Edge* set : use.dst()->out_edges()) {
    if (set->IsControlEdge() || set->dst()->type_string() != "TensorListSetItem") continue;
    for (const Edge* sum : set->dst()->out_edges()) {
      if (sum->IsControlEdge() || sum->dst()->type_string() != "AddN") continue;
      for (int i = 0; i < sum->dst()->num_inputs(); ++i) {
        if (Node* const argument = ArgumentOf(body, SourceOf(*sum->dst(), i))) return argument;
      }
    }
  }
  return nullptr;
}

// Replaces the popped value by a constant, which ops other than list ops get only if it is complete. Returns whether
// a use was replaced.
absl::StatusOr<bool> ReplaceByConstant(const FunctionBody& body, const Node& pop, const Tensor& value) {
  const bool partial = IsPartial(value);
  bool replaced = false;
  HPU_ASSIGN_OR_RETURN(Node * constant, AddConstant(body, pop, value));
  for (const Edge* use : OutEdges(pop)) {
    if (use->src_output() != 1 || (partial && !TakesPartialShape(*use))) continue;
    HPU_RETURN_IF_ERROR(body.graph->UpdateEdge(constant, 0, use->dst(), use->dst_input()));
    replaced = true;
  }
  return replaced;
}

// Replaces the popped length where the body adds a list of this length to another one. Returns whether a use was
// replaced.
absl::StatusOr<bool> ReplaceByLength(const FunctionBody& body, const Node& pop) {
  bool replaced = false;
  for (const Edge* use : OutEdges(pop)) {
    Node* const list = use->src_output() == 1 ? AddedTo(body, *use) : nullptr;
    if (list == nullptr) continue;
    tensorflow::NodeDef definition;
    definition.set_name(body.graph->NewName(absl::StrCat(pop.name(), "/length")));
    definition.set_op("TensorListLength");
    HPU_ASSIGN_OR_RETURN(Node * length, body.graph->AddNode(std::move(definition)));
    body.graph->AddEdge(list, 0, length, 0);
    HPU_RETURN_IF_ERROR(body.graph->UpdateEdge(length, 0, use->dst(), use->dst_input()));
    replaced = true;
  }
  return replaced;
}

// Removes the resizing of lists to the popped length, which they have. The gradient of a write that may extend the list
// contains it. Returns whether an op was removed.
absl::StatusOr<bool> RemoveResizing(const FunctionBody& body, const Node& pop) {
  bool removed = false;
  for (const Edge* use : OutEdges(pop)) {
    Node* const resize = use->dst();
    if (use->src_output() != 1 || resize->type_string() != "TensorListResize") continue;
    const tensorflow::OutputTensor list = InputOf(*resize, 0);
    for (const Edge* edge : OutEdges(*resize)) {
      if (edge->IsControlEdge()) continue;
      HPU_RETURN_IF_ERROR(body.graph->UpdateEdge(list.node, list.index, edge->dst(), edge->dst_input()));
    }
    body.graph->RemoveNode(resize);
    removed = true;
  }
  return removed;
}

// Returns whether a use of the popped value was replaced.
absl::StatusOr<bool> ReplacePopped(const FunctionBody& body, int index, const std::optional<Tensor>& value,
                                   bool keeps_length) {
  for (const Edge* edge : OutEdges(*body.arg_nodes[index])) {
    const Node* const pop = edge->dst();
    if (edge->IsControlEdge() || !Pops(body, index, pop)) continue;
    bool changed = false;
    if (keeps_length) {
      HPU_ASSIGN_OR_RETURN(changed, RemoveResizing(body, *pop));
    }
    HPU_ASSIGN_OR_RETURN(const bool replaced,
                         value.has_value() ? ReplaceByConstant(body, *pop, *value) : ReplaceByLength(body, *pop));
    return changed || replaced;
  }
  return false;
}

}  // namespace

void ListValues::Add(const Node& loop, const FunctionBody& body, int index, KnownNumbers* known) {
  const Pushed pushed = PushedValue(loop, body, index, known);
  if (!pushed.is_length && !pushed.value.has_value()) return;
  std::vector<std::pair<Node*, int>> inputs;
  FindLoopInputs(loop, index, &inputs);
  for (const auto& [node, input] : inputs) {
    auto found = std::find_if(popped_.begin(), popped_.end(), [&](const auto& of) { return of.first == node; });
    if (found == popped_.end()) found = popped_.insert(popped_.end(), {node, {}});
    found->second.emplace(input, ListValues::Popped{pushed.value, pushed.keeps_length});
  }
}

absl::Status ListValues::Replace(tensorflow::FunctionLibraryDefinition* library) {
  for (const auto& [loop, values] : popped_) {
    HPU_ASSIGN_OR_RETURN(const std::unique_ptr<FunctionBody> body, LoopFunction(*loop, "body", *library));
    bool changed = false;
    for (const auto& [index, popped] : values) {
      HPU_ASSIGN_OR_RETURN(const bool replaced, ReplacePopped(*body, index, popped.value, popped.keeps_length));
      changed |= replaced;
    }
    if (changed) HPU_RETURN_IF_ERROR(SetFunction(loop, "body", *body, "_known", library));
  }
  return absl::OkStatus();
}

}  // namespace hpu::passes
