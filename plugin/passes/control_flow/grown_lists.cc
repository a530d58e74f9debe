#include "plugin/passes/control_flow/grown_lists.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "absl/algorithm/container.h"
#include "plugin/base/status_macros.h"
#include "plugin/compat/function_bodies.h"
#include "plugin/passes/analysis/list_lengths.h"
#include "plugin/passes/analysis/loop_counters.h"
#include "plugin/passes/functions/loop_functions.h"
#include "tensorflow/core/framework/node_def_util.h"

namespace hpu::passes {
namespace {

using tensorflow::Edge;
using tensorflow::FunctionBody;
using tensorflow::Graph;
using tensorflow::Node;

constexpr char kResizeAttr[] = "resize_if_index_out_of_bounds";

// Whether nothing but `user` uses the list, apart from ops that read its length or element shape.
bool IsOnlyUser(const Node& list, const Node& user) {
  return absl::c_all_of(list.out_edges(), [&](const Edge* edge) {
    const std::string& op = edge->dst()->type_string();
    return edge->IsControlEdge() || edge->dst() == &user || op == "TensorListLength" || op == "TensorListElementShape";
  });
}

// The op that writes element `counter` of the list that is loop value `index`, and extends the list; null if the body
// uses the list in another way.
Node* WriteOf(const FunctionBody& body, int index, int counter) {
  const Node* const write = SourceOf(*body.ret_nodes[index], 0);
  bool resizes = false;
  if (write == nullptr || write->type_string() != "TensorListSetItem" ||
      !tensorflow::TryGetNodeAttr(write->attrs(), kResizeAttr, &resizes) || !resizes) {
    return nullptr;
  }
  const Node* const list = body.arg_nodes[index];
  const bool writes_next = SourceOf(*write, 0) == list && SourceOf(*write, 1) == body.arg_nodes[counter];
  return writes_next && IsOnlyUser(*list, *write) ? const_cast<Node*>(write) : nullptr;
}

// The counter of a loop that runs while it is less than a limit, from 0 in steps of 1; -1 for other loops.
int CounterOf(const FunctionBody& condition, const LoopCounters& counters) {
  const Node* const test = SourceOf(*condition.ret_nodes[0], 0);
  if (test == nullptr || test->type_string() != "Less") return -1;
  const int value = LoopValueOf(condition, SourceOf(*test, 0));
  if (value < 0) return -1;
  const std::optional<Range> range = counters.RangeOf(value);
  return range.has_value() && range->min == 0 && counters.StepOf(value) == 1 ? value : -1;
}

// The number of iterations as a node; null if it is neither a constant nor a size.
absl::StatusOr<Node*> IterationsOf(Graph* graph, const Node& list, const Range& range) {
  if (range.limit != nullptr) return SizeReadBy(*range.limit).has_value() ? const_cast<Node*>(range.limit) : nullptr;
  if (range.max < -1 || range.max >= std::numeric_limits<int32_t>::max()) return nullptr;
  return AddLength(graph, list, "/size", static_cast<int32_t>(range.max + 1));
}

absl::StatusOr<bool> SizeListsOf(Graph* graph, Node* loop, tensorflow::FunctionLibraryDefinition* library,
                                 KnownNumbers* known) {
  std::vector<LoopList> lists = CreatedLists(*loop, "TensorListReserve");
  const auto is_unfit = [&](const LoopList& created) {
    return ConstantScalar(SourceOf(*created.list, 1)) != 0 || !IsOnlyUser(*created.list, *loop);
  };
  lists.erase(std::remove_if(lists.begin(), lists.end(), is_unfit), lists.end());
  if (lists.empty()) return false;
  HPU_ASSIGN_OR_RETURN(const std::unique_ptr<FunctionBody> condition, LoopFunction(*loop, "cond", *library));
  HPU_ASSIGN_OR_RETURN(const std::unique_ptr<FunctionBody> body, LoopFunction(*loop, "body", *library));
  const LoopCounters counters(*loop, *condition, *body, known);
  const int counter = CounterOf(*condition, counters);
  if (counter < 0) return false;
  bool changed = false;
  for (const auto& [list, index] : lists) {
    Node* const write = WriteOf(*body, index, counter);
    if (write == nullptr) continue;
    HPU_ASSIGN_OR_RETURN(Node* const size, IterationsOf(graph, *list, *counters.RangeOf(counter)));
    if (size == nullptr) continue;
    HPU_RETURN_IF_ERROR(graph->UpdateEdge(size, 0, list, 1));
    write->ClearAttr(kResizeAttr);
    write->AddAttr(kResizeAttr, false);
    changed = true;
  }
  if (changed) HPU_RETURN_IF_ERROR(SetFunction(loop, "body", *body, "_sized", library));
  return changed;
}

}  // namespace

absl::StatusOr<bool> SizeGrownLists(Graph* graph, tensorflow::FunctionLibraryDefinition* library, KnownNumbers* known) {
  bool changed = false;
  for (Node* loop : LoopsOf(*graph)) {
    HPU_ASSIGN_OR_RETURN(const bool sized, SizeListsOf(graph, loop, library, known));
    changed |= sized;
  }
  return changed;
}

}  // namespace hpu::passes
