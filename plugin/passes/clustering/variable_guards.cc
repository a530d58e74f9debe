#include "plugin/passes/clustering/variable_guards.h"

#include <limits>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"
#include "plugin/op_facts/op_facts.h"
#include "plugin/passes/graph/graph_util.h"
#include "tensorflow/core/framework/node_def_util.h"

namespace hpu::passes {
namespace {

using tensorflow::DataType;
using tensorflow::Edge;
using tensorflow::Node;
using tensorflow::NodeBuilder;
using tensorflow::OutputTensor;
using tensorflow::Tensor;

// Whether an op changes a few elements of its variables, at indices that IndexedOpOf describes. The op's lowering drops
// indices out of range.
bool Scatters(const Node& node) {
  const std::string& op = node.type_string();
  return (absl::StartsWith(op, "ResourceScatter") || absl::StartsWith(op, "ResourceSparseApply")) &&
         IndexedOpOf(op) != nullptr;
}

}  // namespace

VariableGuards::Handle VariableGuards::HandleOf(const Node& node, int input) {
  OutputTensor handle = InputOf(node, input);
  while (handle.node->IsIdentity()) handle = InputOf(*handle.node, 0);
  return {handle.node, handle.index};
}

NodeMaker VariableGuards::Maker(const Node& node) const {
  return NodeMaker(graph_, absl::StrCat(node.name(), "/habana_guard"), node.assigned_device_name());
}

absl::Status VariableGuards::GuardIndices(Node* update, Node* passes) {
  const int input = IndexedOpOf(update->type_string())->indices;
  const OutputTensor indices = InputOf(*update, input);
  const DataType type = indices.node->output_type(indices.index);
  Tensor invalid(type, {}), largest(type, {});
  if (type == tensorflow::DT_INT32) {
    invalid.scalar<int32_t>()() = -1;
    largest.scalar<int32_t>()() = std::numeric_limits<int32_t>::max();
  } else {
    invalid.scalar<int64_t>()() = -1;
    largest.scalar<int64_t>()() = std::numeric_limits<int64_t>::max();
  }
  NodeMaker maker = Maker(*update);
  maker.set_anchor(indices.node);
  HPU_ASSIGN_OR_RETURN(Node * none, Added(maker.Constant("none", invalid)));
  HPU_ASSIGN_OR_RETURN(Node * all, Added(maker.Constant("all", largest)));
  // The minimum with a scalar, because a select by a scalar would broadcast to the bounds of dynamic sizes.
  NodeBuilder select = maker.New("limit", "SelectV2");
  select.Input(passes).Input(all).Input(none);
  HPU_ASSIGN_OR_RETURN(Node * limit, Added(maker.Add(select)));
  NodeBuilder minimum = maker.New("indices", "Minimum");
  minimum.Input(indices.node, indices.index).Input(limit);
  HPU_ASSIGN_OR_RETURN(Node * guarded, Added(maker.Add(minimum)));
  return graph_->UpdateEdge(guarded, 0, update, input);
}

// The type of a variable, according to `update` or another op that uses the handle.
std::optional<DataType> VariableGuards::TypeOf(const Node& update, const Handle& handle) const {
  const auto has_type = [](const Node& node) {
    const std::string& op = node.type_string();
    return absl::StartsWith(op, "Assign") || absl::StartsWith(op, "Resource") || op == "ReadVariableOp";
  };
  const auto type_of = [](const Node& node) -> std::optional<DataType> {
    DataType type;
    for (const char* attribute : {"dtype", "T"}) {
      if (tensorflow::TryGetNodeAttr(node.attrs(), attribute, &type)) return type;
    }
    return std::nullopt;
  };
  if (has_type(update)) return type_of(update);
  for (const Edge* edge : OutEdges(*handle.first)) {
    if (edge->src_output() != handle.second || !has_type(*edge->dst())) continue;
    if (const std::optional<DataType> type = type_of(*edge->dst()); type.has_value()) return type;
  }
  return std::nullopt;
}

// Adds a HabanaRevertUpdate for one variable of an update. Null if the old value cannot be kept.
absl::StatusOr<Node*> VariableGuards::Revert(Node* update, int input, Node* passes) {
  const NodeMaker maker = Maker(*update);
  const OutputTensor handle = InputOf(*update, input);
  std::vector<NodeBuilder::NodeOut> old;
  const auto previous = updates_.find(HandleOf(*update, input));
  const std::optional<DataType> type = TypeOf(*update, HandleOf(*update, input));
  if (previous != updates_.end() && type.has_value()) {
    NodeBuilder read = maker.New("old", "ReadVariableOp");
    read.Input(handle.node, handle.index).Attr("dtype", *type).ControlInput(previous->second.node);
    HPU_ASSIGN_OR_RETURN(Node * value, Added(maker.Add(read)));
    graph_->AddControlEdge(value, update);
    old.emplace_back(value, 0);
  } else if (previous != updates_.end() && !previous->second.all_guarded) {
    return nullptr;
  }
  NodeBuilder builder = maker.New("revert", kRevertUpdateOp);
  builder.Input(handle.node, handle.index).Input(passes).Input(old);
  builder.Attr("N", static_cast<int>(old.size())).Attr("T", type.value_or(tensorflow::DT_FLOAT));
  return Added(maker.Add(builder.ControlInput(update)));
}

absl::Status VariableGuards::GuardVariables(Node* update, Node* passes) {
  std::vector<const Edge*> users;
  for (const Edge* edge : OutEdges(*update)) {
    if (edge->IsControlEdge() && edge->dst()->IsOp()) users.push_back(edge);
  }
  std::vector<Node*> reverts;
  for (int i = 0; i < update->num_inputs(); ++i) {
    if (update->input_type(i) != tensorflow::DT_RESOURCE) continue;
    HPU_ASSIGN_OR_RETURN(Node * revert, Revert(update, i, passes));
    Update& last = updates_[HandleOf(*update, i)];
    last.all_guarded = last.all_guarded && revert != nullptr;
    last.node = revert == nullptr ? update : revert;
    if (revert != nullptr) reverts.push_back(revert);
  }
  for (const Edge* edge : users) {
    for (Node* revert : reverts) graph_->AddControlEdge(revert, edge->dst());
  }
  return absl::OkStatus();
}

void VariableGuards::Skip(Node* update, bool guarded) {
  for (int i = 0; i < update->num_inputs(); ++i) {
    if (update->input_type(i) != tensorflow::DT_RESOURCE) continue;
    Update& last = updates_[HandleOf(*update, i)];
    last = {update, last.all_guarded && guarded};
  }
}

absl::Status VariableGuards::Guard(Node* update, Node* passes) {
  if (!Scatters(*update)) return GuardVariables(update, passes);
  HPU_RETURN_IF_ERROR(GuardIndices(update, passes));
  Skip(update, /*guarded=*/true);
  return absl::OkStatus();
}

}  // namespace hpu::passes
