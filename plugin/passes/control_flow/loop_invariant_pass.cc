#include "plugin/passes/control_flow/loop_invariant_pass.h"

#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "plugin/passes/graph/graph_util.h"
#include "plugin/passes/graph/unused_nodes.h"
#include "tensorflow/core/framework/node_def_util.h"

namespace hpu::passes {
namespace {

using tensorflow::Edge;
using tensorflow::Graph;
using tensorflow::Node;

bool EntersAsConstant(const Node& node) {
  bool constant = false;
  return node.IsEnter() && tensorflow::TryGetNodeAttr(node.attrs(), "is_constant", &constant) && constant;
}

// Whether the edge's target stays in the loop's frame after removal of the edge.
bool StaysInFrameWithout(const Edge& removed) {
  return absl::c_any_of(removed.dst()->in_edges(), [](const Edge* edge) { return !EntersAsConstant(*edge->src()); });
}

}  // namespace

tensorflow::Status RunLoopInvariantPass(const tensorflow::GraphOptimizationPassOptions& options) {
  // Does not call MayUseHpu, because a function on the CPU may contain nodes on the HPU.
  if (options.graph == nullptr || !AnyOnHpu(**options.graph) || !HasLoweredControlFlow(**options.graph)) {
    return tensorflow::OkStatus();
  }
  Graph* const graph = options.graph->get();
  std::vector<const Edge*> removed;
  for (const Edge* edge : graph->edges()) {
    if (edge->IsControlEdge() && edge->dst()->IsOp() && EntersAsConstant(*edge->src()) &&
        edge->src()->assigned_device_name() != edge->dst()->assigned_device_name() && StaysInFrameWithout(*edge)) {
      removed.push_back(edge);
    }
  }
  std::vector<int> invariants;
  for (const Edge* edge : removed) {
    invariants.push_back(edge->src()->id());
    graph->RemoveControlEdge(edge);
  }
  // TensorFlow's executor cannot run a loop that consists only of an invariant.
  RemoveUnused(graph, std::move(invariants));
  return tensorflow::OkStatus();
}

}  // namespace hpu::passes
