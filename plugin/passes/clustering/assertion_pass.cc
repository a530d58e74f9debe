#include "plugin/passes/clustering/assertion_pass.h"

#include <optional>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "plugin/base/status_macros.h"
#include "plugin/compat/function_bodies.h"
#include "plugin/passes/analysis/constant_origin.h"
#include "plugin/passes/analysis/known_numbers.h"
#include "plugin/passes/analysis/loop_counters.h"
#include "plugin/passes/analysis/static_shapes.h"
#include "plugin/passes/clustering/check_order.h"
#include "plugin/passes/clustering/cluster_ancestors.h"
#include "plugin/passes/functions/loop_functions.h"
#include "plugin/passes/graph/graph_util.h"
#include "plugin/passes/graph/node_maker.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/graph/algorithm.h"

namespace hpu::passes {
namespace {

using tensorflow::Edge;
using tensorflow::Graph;
using tensorflow::Node;
using tensorflow::NodeBuilder;
using tensorflow::OutputTensor;

// A NoOp with more pairs of predecessors and successors keeps its edges.
constexpr int64_t kMaxPairs = 1000;

bool IsInput(const Node& node) {
  return node.IsArg() || node.IsConstant() || node.IsSource() || node.IsVariable() || node.IsRecv();
}

// Whether a node computes on the device. Shapes, indices and conditions do not count.
bool Computes(const Node& node) {
  return IsOnHpu(node) && absl::c_any_of(node.output_types(), [](tensorflow::DataType type) {
           return type != tensorflow::DT_BOOL && type != tensorflow::DT_INT32 && type != tensorflow::DT_INT64 &&
                  type != tensorflow::DT_RESOURCE;
         });
}

// The tensor behind identities.
OutputTensor BehindIdentities(OutputTensor tensor) {
  while (tensor.node->IsIdentity()) tensor = InputOf(*tensor.node, 0);
  return tensor;
}

bool HasComputedStrings(const Node& assertion) {
  for (int i = 1; i < assertion.num_inputs(); ++i) {
    if (assertion.input_type(i) == tensorflow::DT_STRING && !InputOf(assertion, i).node->IsConstant()) return true;
  }
  return false;
}

class AssertionMover {
 public:
  explicit AssertionMover(PassContext* context)
      : context_(context), graph_(context->graph->get()), loops_(LoopsOf(*graph_)), shapes_(graph_, context->library) {}

  void Move(Node* assertion);

 private:
  bool WaitsForDevice(const Node& assertion) const;
  bool MayRunLong(const Node& loop, const NodeFlags& after);
  bool CountsTurns(const OutputTensor& result) const;
  bool PrecedesLongLoop(const Node& assertion);
  void BypassNoOps(Node* assertion);

  PassContext* const context_;
  Graph* const graph_;
  const std::vector<Node*> loops_;
  LazyShapes shapes_;
  std::optional<KnownNumbers> numbers_;
  std::optional<std::vector<Origin>> origins_;
};

// Whether a node that computes on the device precedes the assertion.
bool AssertionMover::WaitsForDevice(const Node& assertion) const {
  std::vector<const Node*> open = {&assertion};
  NodeFlags seen(graph_->num_node_ids());
  while (!open.empty()) {
    const Node* const node = open.back();
    open.pop_back();
    for (const Edge* edge : node->in_edges()) {
      const Node* const source = edge->src();
      if (IsInput(*source) || !seen.Insert(source)) continue;
      if (Computes(*source)) return true;
      open.push_back(source);
    }
  }
  return false;
}

// `after`: the nodes after the assertion.
bool AssertionMover::MayRunLong(const Node& loop, const NodeFlags& after) {
  const auto condition = LoopFunction(loop, "cond", *context_->library);
  const auto body = LoopFunction(loop, "body", *context_->library);
  if (!condition.ok() || !body.ok() || !LoopsOf(*(*body)->graph).empty()) return true;
  if (!numbers_.has_value()) numbers_.emplace(graph_, context_->library);
  const LoopCounters counters(loop, **condition, **body, &*numbers_);
  if (counters.MaxIterations().has_value()) return false;
  if (!origins_.has_value()) origins_ = FindOrigins(*graph_);
  return absl::c_none_of(counters.LimitingValues(), [&](int value) {
    const OutputTensor limit = BehindIdentities(InputOf(loop, value));
    if ((*origins_)[limit.node->id()] <= Origin::kStatic) return true;
    if (!limit.node->IsWhileNode()) return false;
    return !after.Contains(limit.node) || (CountsTurns(limit) && !MayRunLong(*limit.node, after));
  });
}

bool AssertionMover::PrecedesLongLoop(const Node& assertion) {
  if (loops_.empty()) return false;
  NodeFlags after(graph_->num_node_ids());
  tensorflow::DFSFrom(*graph_, {&assertion}, [&](const Node* node) { after.Insert(node); }, /*leave=*/nullptr);
  return absl::c_any_of(loops_, [&](const Node* loop) { return after.Contains(loop) && MayRunLong(*loop, after); });
}

// Whether a result of a loop is the number of its iterations, possibly plus a constant or times a constant.
bool AssertionMover::CountsTurns(const OutputTensor& result) const {
  const auto body = LoopFunction(*result.node, "body", *context_->library);
  if (!body.ok()) return false;
  const Node* const next = SourceOf(*(*body)->ret_nodes[result.index], 0);
  return next != nullptr && SumOf(*next).source == (*body)->arg_nodes[result.index];
}

// Connects the predecessors of NoOps behind the assertion with the NoOps' successors on the HPU.
void AssertionMover::BypassNoOps(Node* assertion) {
  std::vector<Node*> groups;
  NodeFlags seen(graph_->num_node_ids());
  const auto add = [&](Node* node) {
    if (node->type_string() == "NoOp" && seen.Insert(node)) groups.push_back(node);
  };
  for (const Edge* edge : OutEdges(*assertion)) add(edge->dst());
  while (!groups.empty()) {
    Node* const group = groups.back();
    groups.pop_back();
    const int64_t pairs = static_cast<int64_t>(group->in_edges().size()) * group->out_edges().size();
    if (pairs > kMaxPairs) continue;
    const std::vector<const Edge*> predecessors(group->in_edges().begin(), group->in_edges().end());
    for (const Edge* successor : OutEdges(*group)) {
      Node* const next = successor->dst();
      if (!IsOnHpu(*next) && next->type_string() != "NoOp") continue;
      for (const Edge* predecessor : predecessors) {
        if (predecessor->src()->IsOp()) graph_->AddControlEdge(predecessor->src(), next);
      }
      graph_->RemoveControlEdge(successor);
      add(next);
    }
  }
}

void AssertionMover::Move(Node* assertion) {
  Node* const condition = InputOf(*assertion, 0).node;
  if (condition->num_outputs() != 1 || HasComputedStrings(*assertion) || !WaitsForDevice(*assertion)) return;
  const tensorflow::PartialTensorShape shape = shapes_.Get().InputShape(*assertion, 0);
  if (shape.dims() != 0) return;
  if (PrecedesLongLoop(*assertion)) return;
  BypassNoOps(assertion);
  AddLateCheck(*assertion, condition);
  for (const Edge* edge : OutEdges(*assertion)) {
    Node* const waiting = edge->dst();
    const bool is_assertion = waiting->type_string() == kAssertOp;
    if (!edge->IsControlEdge() || !IsOnHpu(*waiting) || is_assertion || waiting->type_string() == "NoOp") continue;
    graph_->RemoveControlEdge(edge);
    AddLateCheck(*assertion, waiting);
  }
  assertion->AddAttr(kLateAttr, true);
  AddRewrite(&context_->report, assertion->name(), assertion->type_string(), "checks",
             "the assertion runs after the cluster that computes its condition");
}

}  // namespace

absl::Status MoveAssertionsBack(PassContext* context) {
  Graph* const graph = context->graph->get();
  std::vector<Node*> assertions;
  for (Node* node : graph->op_nodes()) {
    if (node->type_string() == kAssertOp) assertions.push_back(node);
  }
  if (assertions.empty() || HasLoweredControlFlow(*graph)) return absl::OkStatus();
  AssertionMover mover(context);
  for (Node* assertion : assertions) mover.Move(assertion);
  return absl::OkStatus();
}

absl::StatusOr<Node*> CopyAssertion(const Node& assertion, const Node& checked, Graph* graph) {
  int64_t summarize = 0;
  HPU_RETURN_IF_ERROR(tensorflow::GetNodeAttr(assertion.attrs(), "summarize", &summarize));
  std::vector<NodeBuilder::NodeOut> data;
  std::vector<std::string> texts;
  std::vector<int> inputs;
  for (int i = 1; i < assertion.num_inputs(); ++i) {
    const OutputTensor item = InputOf(assertion, i);
    const std::optional<tensorflow::Tensor> constant = ConstantOf(*item.node);
    texts.push_back(constant.has_value() ? constant->SummarizeValue(summarize) : "");
    inputs.push_back(constant.has_value() ? -1 : static_cast<int>(data.size()));
    if (!constant.has_value()) data.emplace_back(item);
  }
  const NodeMaker maker(graph, assertion.name(), checked.assigned_device_name());
  NodeBuilder builder = maker.New("in_cluster", kClusterAssertOp);
  builder.Input(NodeBuilder::NodeOut(InputOf(assertion, 0))).Input(data);
  builder.Attr("texts", texts).Attr("inputs", inputs).Attr("summarize", summarize);
  HPU_ASSIGN_OR_RETURN(Node * copy, maker.Add(builder));
  SetOrigin(assertion, copy);
  return copy;
}

}  // namespace hpu::passes
