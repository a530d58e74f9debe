#include "plugin/passes/collectives/collective_pass.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "plugin/base/flags/flags.h"
#include "plugin/base/status_macros.h"
#include "plugin/passes/clustering/order_graph.h"
#include "plugin/passes/graph/graph_util.h"
#include "plugin/passes/graph/node_maker.h"
#include "tensorflow/core/framework/node_def_util.h"

namespace hpu::passes {
namespace {

using tensorflow::Edge;
using tensorflow::Graph;
using tensorflow::Node;

constexpr char kReduceOp[] = "CollectiveReduceV2";
constexpr char kTokensAttr[] = "Nordering_token";
constexpr int kNoStage = -1;
// Number of ops. A smaller stage joins the previous stage, because it is not worth a separate cluster. Example: the
// mean of a loss that is reduced for logging.
constexpr int kSmallestStage = 8;

tensorflow::DataType ReductionTypeOf(const Node& collective) { return collective.output_type(0); }

// Whether the pass adds an HpuCollectiveStart for the collective.
bool IsReduction(const Node* node) { return node->type_string() == kReduceOp; }

// The collectives that devices may execute directly. Excludes int32 tensors, which are in host memory: TensorFlow's
// kernels reduce int32 on the host.
std::vector<Node*> FindCollectives(Graph* graph) {
  std::vector<Node*> found;
  for (Node* node : graph->op_nodes()) {
    if (!absl::StartsWith(node->type_string(), "Collective") || !IsOnHpu(*node)) continue;
    if (node->num_outputs() == 1 && ReductionTypeOf(*node) != tensorflow::DT_INT32) found.push_back(node);
  }
  return found;
}

// The length of the longest path to each vertex, in edges.
std::vector<int> Depths(const OrderGraph& order) {
  std::vector<int> depths(order.size(), 0);
  for (const int v : order.TopologicalOrder()) {
    for (const int next : order.Successors(v)) depths[next] = std::max(depths[next], depths[v] + 1);
  }
  return depths;
}

// The stage of each node, by id: the index of the first reduction that depends on the node. Small stages join the
// previous stage.
std::vector<int> FindStages(const Graph& graph, const std::vector<Node*>& collectives) {
  std::vector<int> stages(graph.num_node_ids(), kNoStage);
  int last = 0;
  for (size_t i = 0; i < collectives.size(); ++i) {
    std::vector<const Node*> found = {collectives[i]};
    int ops = 0;
    for (size_t next = 0; next < found.size(); ++next) {
      for (const Edge* edge : found[next]->in_edges()) {
        const Node* source = edge->src();
        if (stages[source->id()] != kNoStage) continue;
        stages[source->id()] = static_cast<int>(i);
        found.push_back(source);
        ops += IsOnHpu(*source) && !source->IsConstant() && source->type_string() != kReduceOp;
      }
    }
    if (ops >= kSmallestStage) last = static_cast<int>(i);
    for (size_t next = 1; next < found.size(); ++next) stages[found[next]->id()] = last;
  }
  return stages;
}

class Rewriter {
 public:
  explicit Rewriter(PassContext* context)
      : context_(context),
        graph_(context->graph->get()),
        to_bf16_(flags::CollectivePrecision() == flags::CollectivePrecisionSetting::kBfloat16) {}

  struct Result {
    Node* start;
    Node* reduce;
  };
  absl::StatusOr<Result> Rewrite(Node* collective) {
    const bool casts = to_bf16_ && ReductionTypeOf(*collective) == tensorflow::DT_FLOAT;
    const tensorflow::DataType type = casts ? tensorflow::DT_BFLOAT16 : ReductionTypeOf(*collective);
    const NodeMaker maker(graph_, collective->name(), collective->assigned_device_name());
    tensorflow::OutputTensor input = InputOf(*collective, 0);
    if (casts) {
      int stage = kNoStage;
      tensorflow::TryGetNodeAttr(input.node->attrs(), kStageAttr, &stage);
      HPU_ASSIGN_OR_RETURN(input.node, maker.Cast("to_bfloat16", input, type));
      input.index = 0;
      if (stage != kNoStage) input.node->AddAttr(kStageAttr, stage);
    }
    auto builder = maker.New("start", "HpuCollectiveStart").Input(input.node, input.index);
    HPU_ASSIGN_OR_RETURN(Node * start, maker.Add(builder));
    HPU_ASSIGN_OR_RETURN(Node * reduce, AddReduce(*collective, input, start, type));
    Node* result = reduce;
    if (casts) {
      HPU_ASSIGN_OR_RETURN(result, maker.Cast("to_float", reduce, tensorflow::DT_FLOAT));
    }
    MoveConsumers(graph_, collective, result);
    AddRewrite(&context_->report, collective->name(), kReduceOp, "collectives",
               absl::StrCat("started by HpuCollectiveStart", casts ? ", in bfloat16" : ""));
    graph_->RemoveNode(collective);
    return Result{start, reduce};
  }

 private:
  // Adds TensorFlow's CollectiveReduceV2, with `start` as an additional ordering token. A Session needs this op to
  // detect that the graph uses collectives.
  absl::StatusOr<Node*> AddReduce(const Node& collective, const tensorflow::OutputTensor& input, Node* start,
                                  tensorflow::DataType type) {
    int tokens = 0;
    HPU_RETURN_IF_ERROR(tensorflow::GetNodeAttr(collective.attrs(), kTokensAttr, &tokens));
    tensorflow::NodeDef definition = collective.def();
    definition.set_name(graph_->NewName(absl::StrCat(collective.name(), "/reduce")));
    definition.clear_input();
    tensorflow::SetAttrValue(type, &(*definition.mutable_attr())["T"]);
    tensorflow::SetAttrValue(tokens + 1, &(*definition.mutable_attr())[kTokensAttr]);
    tensorflow::Status status;
    Node* reduce = graph_->AddNode(std::move(definition), &status);
    HPU_RETURN_IF_ERROR(status);
    reduce->set_assigned_device_name(collective.assigned_device_name());
    graph_->AddEdge(input.node, input.index, reduce, 0);
    for (const Edge* edge : collective.in_edges()) {
      if (edge->dst_input() != 0) graph_->AddEdge(edge->src(), edge->src_output(), reduce, edge->dst_input());
    }
    graph_->AddEdge(start, 0, reduce, collective.num_inputs());
    return reduce;
  }

  PassContext* const context_;
  Graph* const graph_;
  const bool to_bf16_;
};

// The first node of each stage that depends on an earlier stage. A control edge into this node makes its whole cluster
// wait.
std::vector<Node*> FirstOfStages(const Graph& graph, const OrderGraph& order, const std::vector<int>& stages,
                                 size_t count) {
  std::vector<Node*> first(count, nullptr);
  for (const int v : order.TopologicalOrder()) {
    Node* node = v < graph.num_node_ids() ? graph.FindNodeId(v) : nullptr;
    if (node == nullptr || !node->IsOp() || stages[v] == kNoStage || node->IsConstant()) continue;
    if (IsReduction(node)) continue;  // already waits for the previous reduction
    const bool follows = std::any_of(node->in_edges().begin(), node->in_edges().end(), [&](const Edge* edge) {
      return stages[edge->src()->id()] != kNoStage && edge->src()->IsOp() && stages[edge->src()->id()] < stages[v];
    });
    if (follows && first[stages[v]] == nullptr) first[stages[v]] = node;
  }
  return first;
}

}  // namespace

absl::Status RewriteCollectives(PassContext* context) {
  Graph* graph = context->graph->get();
  // A collective in a lowered loop or branch may never run, so no collective may wait for another.
  const bool ordered = !HasLoweredControlFlow(*graph);
  std::vector<Node*> collectives = FindCollectives(graph);
  for (Node* node : collectives) {
    const bool broadcasts = absl::StartsWith(node->type_string(), "CollectiveBcast");
    if ((broadcasts && !IsEagerWrapper(context->function)) || (!ordered && collectives.size() > 1)) {
      node->AddAttr(kByTransportAttr, true);
    }
  }
  if (collectives.empty()) return absl::OkStatus();
  HPU_ASSIGN_OR_RETURN(const OrderGraph order, OrderGraph::Make(*graph));
  const std::vector<int> depths = Depths(order);
  std::sort(collectives.begin(), collectives.end(), [&](const Node* one, const Node* other) {
    return std::pair(depths[one->id()], one->name()) < std::pair(depths[other->id()], other->name());
  });
  std::vector<Node*> reductions;
  std::copy_if(collectives.begin(), collectives.end(), std::back_inserter(reductions), IsReduction);
  std::vector<int> stages(graph->num_node_ids(), kNoStage);
  if (ordered && !flags::TfHabanaCollectiveReduceSync()) stages = FindStages(*graph, reductions);
  for (Node* node : graph->op_nodes()) {
    if (stages[node->id()] != kNoStage) node->AddAttr(kStageAttr, stages[node->id()]);
  }
  const std::vector<Node*> first = FirstOfStages(*graph, order, stages, reductions.size());
  auto next = first.begin();  // stage of the current reduction
  Rewriter rewriter(context);
  Node* before = nullptr;
  for (Node* node : collectives) {
    Node* issued = node;
    if (IsReduction(node)) {
      HPU_ASSIGN_OR_RETURN(const Rewriter::Result made, rewriter.Rewrite(node));
      issued = made.reduce;
      const auto waiting = std::find_if(++next, first.end(), [](const Node* node) { return node != nullptr; });
      if (waiting != first.end()) graph->AddControlEdge(made.start, *waiting);
    }
    if (issued->attrs().Find(kByTransportAttr) != nullptr) continue;
    if (before != nullptr) graph->AddControlEdge(before, issued);
    before = issued;
  }
  return absl::OkStatus();
}

}  // namespace hpu::passes
