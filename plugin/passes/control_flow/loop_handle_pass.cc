#include "plugin/passes/control_flow/loop_handle_pass.h"

#include <memory>
#include <vector>

#include "plugin/base/status_macros.h"
#include "plugin/compat/function_bodies.h"
#include "plugin/passes/functions/loop_functions.h"
#include "plugin/passes/graph/graph_util.h"
#include "plugin/passes/graph/settings.h"

namespace hpu::passes {
namespace {

using tensorflow::Edge;
using tensorflow::Graph;
using tensorflow::Node;

// Edges from the loop's handles to ops. Results of the graph keep their edges.
std::vector<const Edge*> UsesOfHandles(const Node& loop) {
  std::vector<const Edge*> uses;
  for (const Edge* edge : loop.out_edges()) {
    if (!edge->IsControlEdge() && loop.output_type(edge->src_output()) == tensorflow::DT_RESOURCE &&
        edge->dst()->IsOp() && !edge->dst()->IsRetval()) {
      uses.push_back(edge);
    }
  }
  return uses;
}

absl::Status BypassHandlesOf(Graph* graph, Node* loop, const tensorflow::FunctionLibraryDefinition& library) {
  const std::vector<const Edge*> uses = UsesOfHandles(*loop);
  if (uses.empty()) return absl::OkStatus();
  HPU_ASSIGN_OR_RETURN(const std::unique_ptr<tensorflow::FunctionBody> body, LoopFunction(*loop, "body", library));
  for (const Edge* use : uses) {
    const int value = use->src_output();
    if (!IsInvariant(*body, value)) continue;
    const tensorflow::OutputTensor handle = InputOf(*loop, value);
    Node* const user = use->dst();
    HPU_RETURN_IF_ERROR(graph->UpdateEdge(handle.node, handle.index, user, use->dst_input()));
    graph->AddControlEdge(loop, user);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status BypassLoopHandles(Graph* graph, const tensorflow::FunctionLibraryDefinition& library) {
  for (Node* loop : LoopsOf(*graph)) HPU_RETURN_IF_ERROR(BypassHandlesOf(graph, loop, library));
  return absl::OkStatus();
}

tensorflow::Status RunLoopHandlePass(const tensorflow::GraphOptimizationPassOptions& options) {
  if (!MayUseHpu(options) || Settings::FromEnvironment(options.session_options).clustering == Clustering::kOff) {
    return tensorflow::OkStatus();
  }
  return BypassLoopHandles(options.graph->get(), *options.flib_def);
}

}  // namespace hpu::passes
