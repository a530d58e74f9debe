#include "plugin/passes/analysis/list_states.h"

#include <memory>
#include <string_view>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "plugin/passes/analysis/known_numbers.h"
#include "plugin/passes/functions/loop_functions.h"
#include "plugin/passes/graph/graph_util.h"
#include "tensorflow/core/framework/node_def_util.h"

namespace hpu::passes {
namespace {

using tensorflow::Node;

constexpr int kMaxDepth = 1000;  // maximum number of ops between the creation and the use of a list

bool IsListRead(std::string_view op) {
  static const auto* ops =
      new absl::flat_hash_set<std::string_view>{"TensorListConcat",  "TensorListConcatV2", "TensorListGather",
                                                "TensorListGetItem", "TensorListLength",   "TensorListStack"};
  return ops->contains(op);
}

bool HasIndexInput(std::string_view op) {
  return op == "TensorListGather" || op == "TensorListGetItem" || op == "TensorListSetItem";
}

bool Grows(const Node& set) {
  bool grows = false;
  return tensorflow::TryGetNodeAttr(set.attrs(), "resize_if_index_out_of_bounds", &grows) && grows;
}

// Whether a node creates a list with the constant size -1, as loops of unknown length do.
bool MakesUnboundedList(const Node& node) {
  if (node.type_string() != "EmptyTensorList" && node.type_string() != "TensorListReserve") return false;
  const Node* const size = SourceOf(node, 1);
  if (size == nullptr || !size->IsConstant()) return false;
  return ConstantScalar(size).value_or(-1) < 0;
}

}  // namespace

ListStates::State ListStates::StateOfInput(const Node& node, int input, int depth) {
  const tensorflow::Edge* edge = nullptr;
  if (depth > kMaxDepth || !node.input_edge(input, &edge).ok()) return {};
  return StateOf(*edge->src(), edge->src_output(), depth + 1);
}

// The state is known if it is known before the loop, and the loop body only passes the list on, sets elements, pushes,
// pops or resizes.
ListStates::State ListStates::AfterLoop(const Node& loop, int output, int depth) {
  const State before = StateOfInput(loop, output, depth);
  if (!before.known) return {};
  const auto body = LoopFunction(loop, "body", *library_);
  if (!body.ok()) return {};
  const Node* list = SourceOf(*(*body)->ret_nodes[output], 0);
  bool same = true;
  while (list != nullptr && list != (*body)->arg_nodes[output]) {
    const std::string& op = list->type_string();
    const bool pushes = op == "TensorListPushBack" || op == "TensorListPopBack" || op == "TensorListResize";
    if (!pushes && op != "TensorListSetItem") return {};
    same = same && !pushes && !Grows(*list);
    list = SourceOf(*list, 0);
  }
  if (list == nullptr) return {};
  return same ? before : State{true, false, -1, before.capacity};
}

ListStates::State ListStates::StateOf(const Node& node, int output, int depth) {
  const std::string& op = node.type_string();
  if (node.IsIdentity()) return StateOfInput(node, 0, depth);
  if (node.IsWhileNode()) return AfterLoop(node, output, depth);
  if (op == "TensorListReserve") {
    const int64_t length = ConstantScalar(SourceOf(node, 1)).value_or(-1);
    return {true, true, length, length};
  }
  if (op == "TensorListFromTensor") {
    if (shapes_ == nullptr) return {true, true};
    const tensorflow::PartialTensorShape shape = shapes_->Get().InputShape(node, 0);
    const int64_t length = shape.dims() > 0 ? shape.dim_size(0) : -1;
    return {true, true, length, length};
  }
  if (op == "EmptyTensorList") {
    const int64_t capacity = ConstantScalar(SourceOf(node, 1)).value_or(-1);
    return {true, capacity == 0, 0, capacity};
  }
  const bool pushes = op == "TensorListPushBack", pops = op == "TensorListPopBack" && output == 0;
  if (!pushes && !pops && op != "TensorListSetItem") return {};
  State state = StateOfInput(node, 0, depth);
  if (!state.known || op == "TensorListSetItem") return state;
  if (state.length >= 0) state.length += pushes ? 1 : -1;
  state.full = pushes && state.length >= 0 && state.length == state.capacity;
  return state;
}

bool ListStates::IsInRange(const Node& node, const State& state) const {
  const std::optional<tensorflow::Tensor> indices = ConstantOf(*InputOf(node, 1).node);
  if (!indices.has_value() || indices->dtype() != tensorflow::DT_INT32) return false;
  for (int64_t i = 0; i < indices->NumElements(); ++i) {
    const int32_t index = indices->flat<int32_t>()(i);
    if (index < 0 || (state.length >= 0 && index >= state.length)) return false;
  }
  return true;
}

std::optional<int64_t> ListStates::LengthOfInput(const Node& node, int input) {
  const State state = StateOfInput(node, input, 0);
  return state.known && state.length >= 0 ? std::optional<int64_t>(state.length) : std::nullopt;
}

std::optional<std::string> ListStates::WhyNotCompiled(const Node& node, bool whole) {
  const std::string& op = node.type_string();
  const bool pushes = op == "TensorListPushBack", pops = op == "TensorListPopBack";
  if (MakesUnboundedList(node)) return "creates a TensorList of unknown size, and the compiler requires a bound";
  if (!IsListRead(op) && !HasIndexInput(op) && !pushes && !pops) return std::nullopt;
  if (op == "TensorListSetItem" && Grows(node)) return absl::StrCat(op, " may extend the list");
  const State state = StateOfInput(node, 0, 0);
  if (HasIndexInput(op) && !IsInRange(node, state)) {
    const bool constant = ConstantOf(*InputOf(node, 1).node).has_value();
    if (constant || !whole) return absl::StrCat(op, " checks its index on the CPU but not in compiled code");
  }
  if (!state.known) return std::nullopt;
  if (pushes && state.full) return "pushes onto a full TensorList";
  if (pops && state.length == 0) return "pops from an empty TensorList";
  if (IsListRead(op) && !state.full) return "reads a TensorList that may have fewer elements than its capacity";
  int64_t expected = -1;
  if (op == "TensorListStack" && tensorflow::TryGetNodeAttr(node.attrs(), "num_elements", &expected) && expected >= 0 &&
      state.length >= 0 && state.length != expected) {
    return absl::StrCat("stacks a TensorList of ", state.length, " elements but expects ", expected);
  }
  return std::nullopt;
}

}  // namespace hpu::passes
