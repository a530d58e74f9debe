#include "plugin/passes/control_flow/list_bound_pass.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plugin/base/status_macros.h"
#include "plugin/passes/analysis/constant_origin.h"
#include "plugin/passes/analysis/known_numbers.h"
#include "plugin/passes/analysis/list_lengths.h"
#include "plugin/passes/analysis/list_values.h"
#include "plugin/passes/analysis/loop_counters.h"
#include "plugin/passes/control_flow/grown_lists.h"
#include "plugin/passes/functions/function_rewriter.h"
#include "plugin/passes/functions/loop_functions.h"
#include "plugin/passes/graph/graph_names.h"
#include "plugin/passes/graph/graph_util.h"
#include "plugin/passes/graph/settings.h"
#include "tensorflow/core/common_runtime/optimization_registry.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/graph/algorithm.h"

namespace hpu::passes {
namespace {

using tensorflow::FunctionBody;
using tensorflow::FunctionLibraryDefinition;
using tensorflow::Graph;
using tensorflow::Node;

// Whether all users of a list except `except` only read the list, so that the list does not grow.
bool HasOnlyReadersExcept(const Node& list, const Node* except) {
  return std::all_of(list.out_edges().begin(), list.out_edges().end(), [&](const tensorflow::Edge* edge) {
    if (edge->IsControlEdge() || edge->dst() == except) return true;
    const std::string& op = edge->dst()->type_string();
    return op == "TensorListLength" || op == "TensorListElementShape" || op == "TensorListGetItem" ||
           op == "TensorListStack";
  });
}

// Whether each iteration pushes exactly one element onto the list, and no other op extends the list.
bool PushesOnce(const FunctionBody& body, int index) {
  const Node* push = SourceOf(*body.ret_nodes[index], 0);
  if (push == nullptr || push->type_string() != "TensorListPushBack") return false;
  const Node* list = body.arg_nodes[index];
  return SourceOf(*push, 0) == list && HasOnlyReadersExcept(*list, push) &&
         HasOnlyReadersExcept(*push, body.ret_nodes[index]);
}

bool OnlyPushedOnto(const Node& list, const Node& loop, const FunctionBody& body) {
  return std::all_of(list.out_edges().begin(), list.out_edges().end(), [&](const tensorflow::Edge* edge) {
    return edge->IsControlEdge() || (edge->dst() == &loop && PushesOnce(body, edge->dst_input()));
  });
}

// A node for the size of a list onto which each iteration pushes one element; null if the number of iterations has no
// bound that is known to the compiler.
absl::StatusOr<Node*> BoundOf(Graph* graph, const Node& list, const LoopCounters& counters,
                              const std::vector<Origin>& origins) {
  if (const std::optional<int64_t> max = counters.MaxIterations(); max.has_value()) {
    if (*max > std::numeric_limits<int32_t>::max()) return nullptr;
    return AddLength(graph, list, "/bound", static_cast<int32_t>(*max));
  }
  const Node* const limit = counters.LimitOfIterations();
  if (limit == nullptr || origins[limit->id()] > Origin::kStatic) return nullptr;
  return const_cast<Node*>(limit);
}

// Returns whether a list got a bound.
absl::StatusOr<bool> BoundListsOf(Graph* graph, const Node& loop, const FunctionLibraryDefinition& library,
                                  KnownNumbers* known, const std::vector<Origin>& origins, ListValues* values) {
  const std::vector<LoopList> accumulators = CreatedLists(loop, "EmptyTensorList");
  if (accumulators.empty()) return false;
  HPU_ASSIGN_OR_RETURN(const std::unique_ptr<FunctionBody> condition, LoopFunction(loop, "cond", library));
  HPU_ASSIGN_OR_RETURN(const std::unique_ptr<FunctionBody> body, LoopFunction(loop, "body", library));
  const LoopCounters counters(loop, *condition, *body, known);
  bool changed = false;
  for (const auto& [list, index] : accumulators) {
    if (!OnlyPushedOnto(*list, loop, *body)) continue;
    // tf.map_fn and tf.scan give their loops a maximum number of iterations, and TensorFlow then bounds the list.
    if (ConstantScalar(SourceOf(*list, 1)) != -1) {
      values->Add(loop, *body, index, known);
      continue;
    }
    HPU_ASSIGN_OR_RETURN(Node* const bound, BoundOf(graph, *list, counters, origins));
    if (bound == nullptr) continue;
    values->Add(loop, *body, index, known);
    HPU_RETURN_IF_ERROR(graph->UpdateEdge(bound, 0, list, 1));
    changed = true;
  }
  return changed;
}

}  // namespace

absl::StatusOr<bool> BoundAccumulators(Graph* graph, FunctionLibraryDefinition* library) {
  const std::vector<Node*> loops = LoopsOf(*graph);
  if (loops.empty()) return false;
  KnownNumbers first(graph, library);
  HPU_ASSIGN_OR_RETURN(bool changed, SizeGrownLists(graph, library, &first));
  HPU_ASSIGN_OR_RETURN(const bool set, SetLengthsOfStacks(graph, *library, &first));
  changed |= set;
  KnownNumbers known(graph, library);  // infers shapes again, with the new lengths
  ListValues values;
  const std::vector<Origin> origins = FindOrigins(*graph);
  for (const Node* loop : loops) {
    HPU_ASSIGN_OR_RETURN(const bool bounded, BoundListsOf(graph, *loop, *library, &known, origins, &values));
    changed |= bounded;
  }
  tensorflow::FixupSourceAndSinkEdges(graph);
  HPU_RETURN_IF_ERROR(values.Replace(library));
  return changed;
}

tensorflow::Status RunListBoundPass(const tensorflow::GraphOptimizationPassOptions& options) {
  const Settings settings = Settings::FromEnvironment(options.session_options);
  if (!MayUseHpu(options) || settings.clustering == Clustering::kOff) return tensorflow::OkStatus();
  PassContext context(options.graph, options.flib_def, GraphName(FunctionName(options)), settings);
  FunctionRewriter rewriter(&context, "_bounded", [&](Graph* graph, const auto&, const std::string&) {
    return BoundAccumulators(graph, options.flib_def);
  });
  return rewriter.Run([](const Node&) { return true; });
}

}  // namespace hpu::passes
