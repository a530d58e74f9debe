#include "plugin/passes/control_flow/loop_index_pass.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "plugin/base/status_macros.h"
#include "plugin/op_facts/op_facts.h"
#include "plugin/passes/analysis/known_numbers.h"
#include "plugin/passes/analysis/list_states.h"
#include "plugin/passes/analysis/loop_counters.h"
#include "plugin/passes/analysis/op_rules.h"
#include "plugin/passes/functions/loop_functions.h"
#include "plugin/passes/graph/graph_util.h"
#include "plugin/passes/graph/settings.h"
#include "tensorflow/core/common_runtime/optimization_registry.h"
#include "tensorflow/core/framework/node_def_util.h"

namespace hpu::passes {
namespace {

using tensorflow::FunctionBody;
using tensorflow::FunctionLibraryDefinition;
using tensorflow::Graph;
using tensorflow::Node;
using tensorflow::OutputTensor;

// A loop's body, with known values and shapes of the loop's inputs.
class LoopBody {
 public:
  LoopBody(const Node& loop, const FunctionBody& condition, const FunctionBody& body, KnownNumbers* known)
      : loop_(loop), body_(body), counters_(loop, condition, body, known), known_(known) {}

  bool IsInRange(const Node& node, const IndexedOp& op) const {
    if (op.resource || (op.kind != IndexedOp::Kind::kIndex && op.kind != IndexedOp::Kind::kSlice) || op.sizes)
      return false;
    const std::optional<Range> range = Indices(InputOf(node, op.indices));
    if (!range.has_value() || range->min < 0) return false;
    if (range->limit != nullptr) return range->max < 0 && IsBoundingSize(*range->limit, node, op);
    const std::optional<int64_t> size = BoundingSize(node, op);
    return size.has_value() && range->max < *size;
  }

  // Whether every index of a TensorList op is less than the length of its list. False if this is unknown.
  bool IsInList(const Node& node, ListStates* lists) const {
    const int value = LoopValueOf(body_, SourceOf(node, 0));
    const std::optional<Range> range = value < 0 ? std::nullopt : Indices(InputOf(node, 1));
    if (!range.has_value() || range->min < 0 || !KeepsLength(value)) return false;
    if (range->limit != nullptr) return range->max < 0 && IsLength(*range->limit, SourceOf(loop_, value));
    const std::optional<int64_t> length = lists->LengthOfInput(loop_, value);
    return length.has_value() && range->max < *length;
  }

  // Whether the index range of a TensorList op exceeds the length of its list. False if the range or the length is
  // unknown.
  bool MayLeaveList(const Node& node, ListStates* lists) const {
    const int value = LoopValueOf(body_, SourceOf(node, 0));
    const std::optional<int64_t> length = value < 0 ? std::nullopt : lists->LengthOfInput(loop_, value);
    const std::optional<Range> range = Indices(InputOf(node, 1));
    if (!length.has_value() || !range.has_value()) return false;
    return range->min < 0 || (range->limit == nullptr && range->max >= *length);
  }

 private:
  // The indexed dimension, which may count from the end; nullopt if it is unknown.
  static std::optional<int32_t> AxisOf(const Node& node, const IndexedOp& op) {
    return op.axis == nullptr ? std::optional<int32_t>(0) : ConstantScalar(SourceOf(node, 2));
  }

  // Whether the body at most sets elements of the TensorList that is loop value `value`.
  bool KeepsLength(int value) const {
    const Node* list = SourceOf(*body_.ret_nodes[value], 0);
    while (list != nullptr && list != body_.arg_nodes[value]) {
      bool grows = false;
      tensorflow::TryGetNodeAttr(list->attrs(), "resize_if_index_out_of_bounds", &grows);
      if (list->type_string() != "TensorListSetItem" || grows) return false;
      list = SourceOf(*list, 0);
    }
    return list != nullptr;
  }

  // Whether `limit` computes the length of a TensorList before the loop.
  bool IsLength(const Node& limit, const Node* list) const {
    if (list == nullptr) return false;
    if (list->type_string() == "TensorListReserve") return SourceOf(*list, 1) == &limit;
    if (list->type_string() != "TensorListFromTensor") return false;
    const std::optional<SizeOfTensor> size = SizeReadBy(limit);
    const Node* const tensor = SourceOf(*list, 0);
    return size.has_value() && tensor != nullptr && tensor->num_outputs() == 1 && known_->AreEqual(*size, {tensor, 0});
  }

  // Whether `limit`, which is outside the loop, reads the size of the indexed dimension.
  bool IsBoundingSize(const Node& limit, const Node& node, const IndexedOp& op) const {
    const std::optional<SizeOfTensor> size = SizeReadBy(limit);
    const int value = LoopValueOf(body_, SourceOf(node, op.bound));
    return size.has_value() && value >= 0 && IsInvariant(body_, value) && SourceOf(loop_, value) == size->node &&
           AxisOf(node, op) == size->dimension;
  }

  // The size of the indexed dimension; nullopt if it is unknown.
  std::optional<int64_t> BoundingSize(const Node& node, const IndexedOp& op) const {
    const std::optional<int32_t> axis = AxisOf(node, op);
    const std::vector<int64_t> sizes = Sizes(SourceOf(node, op.bound));
    if (!axis.has_value()) return std::nullopt;
    const int64_t place = *axis < 0 ? *axis + static_cast<int64_t>(sizes.size()) : *axis;
    if (place < 0 || place >= static_cast<int64_t>(sizes.size()) || sizes[place] < 0) return std::nullopt;
    return sizes[place];
  }

  // The shape of a constant or of a loop invariant; empty for other nodes.
  std::vector<int64_t> Sizes(const Node* source) const {
    if (source == nullptr) return {};
    if (const std::optional<tensorflow::Tensor> constant = ConstantOf(*source)) {
      const auto sizes = constant->shape().dim_sizes();
      return {sizes.begin(), sizes.end()};
    }
    const int value = LoopValueOf(body_, source);
    return value >= 0 && IsInvariant(body_, value) ? known_->SizesOfInput(loop_, value) : std::vector<int64_t>();
  }

  std::optional<Range> Indices(OutputTensor indices) const {
    while (KeepsValues(indices)) {
      const tensorflow::DataType type = indices.node->output_type(indices.index);
      // A cast to a narrower type may change the counter's value.
      if (type != tensorflow::DT_INT32 && type != tensorflow::DT_INT64) return std::nullopt;
      indices = InputOf(*indices.node, 0);
    }
    if (indices.node->output_type(indices.index) != tensorflow::DT_INT32) return std::nullopt;
    const Sum sum = SumOf(*indices.node);
    const int value = LoopValueOf(body_, sum.source);
    const std::optional<Range> range = value < 0 ? std::nullopt : counters_.RangeOf(value);
    if (!range.has_value()) return std::nullopt;
    return Range{range->min + sum.added, range->max + sum.added, range->limit};
  }

  const Node& loop_;
  const FunctionBody& body_;
  const LoopCounters counters_;
  KnownNumbers* const known_;
};

bool HasListIndexInput(const Node& node) {
  return node.type_string() == "TensorListGetItem" || node.type_string() == "TensorListSetItem";
}

absl::Status MarkIn(Node* loop, FunctionLibraryDefinition* library, KnownNumbers* known, ListStates* lists) {
  HPU_ASSIGN_OR_RETURN(const std::unique_ptr<FunctionBody> body, LoopFunction(*loop, "body", *library));
  std::vector<Node*> indexed;
  for (Node* node : body->graph->op_nodes()) {
    if (FactsOf(node->type_string()).indices.has_value() || HasListIndexInput(*node)) indexed.push_back(node);
  }
  if (indexed.empty()) return absl::OkStatus();
  HPU_ASSIGN_OR_RETURN(const std::unique_ptr<FunctionBody> condition, LoopFunction(*loop, "cond", *library));
  const LoopBody given(*loop, *condition, *body, known);
  bool marked = false;
  for (Node* node : indexed) {
    const IndexedOp* op = IndexedOpOf(node->type_string());
    if (op == nullptr ? given.IsInList(*node, lists) : given.IsInRange(*node, *op)) {
      node->AddAttr(kInRangeAttr, true);
    } else if (op == nullptr && given.MayLeaveList(*node, lists)) {
      node->AddAttr(kUncheckedAttr, true);
    } else {
      continue;
    }
    marked = true;
  }
  return marked ? SetFunction(loop, "body", *body, "_in_range", library) : absl::OkStatus();
}

}  // namespace

absl::Status MarkCountedIndices(Graph* graph, FunctionLibraryDefinition* library) {
  KnownNumbers known(graph, library);
  LazyShapes shapes(graph, library);
  ListStates lists(library, &shapes);
  for (Node* loop : LoopsOf(*graph)) HPU_RETURN_IF_ERROR(MarkIn(loop, library, &known, &lists));
  return absl::OkStatus();
}

tensorflow::Status RunLoopIndexPass(const tensorflow::GraphOptimizationPassOptions& options) {
  if (!MayUseHpu(options) || Settings::FromEnvironment(options.session_options).clustering == Clustering::kOff) {
    return tensorflow::OkStatus();
  }
  Graph* const graph = options.graph->get();
  HPU_RETURN_IF_ERROR(MarkCountedIndices(graph, options.flib_def));
  if (options.is_function_graph || LoopsOf(*graph).empty()) return tensorflow::OkStatus();
  // TensorFlow finds the functions of a Session's loops in the graph's own library when it lowers the loops.
  return graph->AddFunctionLibrary(options.flib_def->ToProto());
}

}  // namespace hpu::passes
