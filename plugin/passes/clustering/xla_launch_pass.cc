#include "plugin/passes/clustering/xla_launch_pass.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "plugin/base/status_macros.h"
#include "plugin/passes/graph/graph_util.h"
#include "plugin/passes/graph/node_maker.h"
#include "tensorflow/core/framework/node_def_util.h"

namespace hpu::passes {
namespace {

using tensorflow::Edge;
using tensorflow::Graph;
using tensorflow::Node;
using tensorflow::NodeDef;

absl::StatusOr<NodeDef> CallOf(const Node& launch) {
  tensorflow::NameAttrList function;
  HPU_RETURN_IF_ERROR(tensorflow::GetNodeAttr(launch.attrs(), "function", &function));
  NodeDef call;
  call.set_name(launch.name());
  call.set_op("StatefulPartitionedCall");
  call.set_device(launch.requested_device());
  for (const auto& [name, value] : launch.attrs()) {
    if (absl::StartsWith(name, "_")) call.mutable_attr()->insert({name, value});
  }
  // The arguments of the function are in the order of the inputs: constants, other tensors, variables.
  tensorflow::AddNodeAttr("Tin", launch.input_types(), &call);
  tensorflow::AddNodeAttr("Tout", launch.output_types(), &call);
  tensorflow::AddNodeAttr("f", function, &call);
  tensorflow::AddNodeAttr(kXlaMustCompileAttr, true, &call);
  return call;
}

}  // namespace

absl::Status ReplaceXlaLaunches(Graph* graph) {
  std::vector<Node*> launches;
  for (Node* node : graph->op_nodes()) {
    if (node->type_string() == "XlaLaunch") launches.push_back(node);
  }
  for (Node* launch : launches) {
    HPU_ASSIGN_OR_RETURN(NodeDef definition, CallOf(*launch));
    HPU_ASSIGN_OR_RETURN(Node * call, graph->AddNode(std::move(definition)));
    for (const Edge* edge : launch->in_edges()) {
      if (edge->IsControlEdge()) {
        graph->AddControlEdge(edge->src(), call, /*allow_duplicates=*/true);
      } else {
        graph->AddEdge(edge->src(), edge->src_output(), call, edge->dst_input());
      }
    }
    MoveConsumers(graph, launch, call);
    graph->RemoveNode(launch);
  }
  return absl::OkStatus();
}

tensorflow::Status RunXlaLaunchPass(const tensorflow::GraphOptimizationPassOptions& options) {
  if (!MayUseHpu(options)) return tensorflow::OkStatus();
  return ReplaceXlaLaunches(options.graph->get());
}

}  // namespace hpu::passes
