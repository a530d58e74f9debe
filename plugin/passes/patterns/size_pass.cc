#include "plugin/passes/patterns/size_pass.h"

#include <vector>

#include "plugin/base/status_macros.h"
#include "plugin/passes/graph/graph_util.h"
#include "plugin/passes/graph/node_maker.h"
#include "tensorflow/core/framework/node_def_util.h"

namespace hpu::passes {
namespace {

using tensorflow::Graph;
using tensorflow::Node;

absl::Status RewriteSize(PassContext* context, Node* size) {
  Graph* graph = context->graph->get();
  tensorflow::NodeDef definition = size->def();
  definition.set_op("HabanaSize");
  tensorflow::Status status;
  Node* node = graph->AddNode(std::move(definition), &status);
  HPU_RETURN_IF_ERROR(status);
  node->set_assigned_device_name(size->assigned_device_name());
  for (const tensorflow::Edge* edge : size->in_edges()) {
    graph->AddEdge(edge->src(), edge->src_output(), node, edge->dst_input());
  }
  MoveConsumers(graph, size, node);
  AddRewrite(&context->report, size->name(), "Size", "sizes", "replaced by HabanaSize, because the op is in a cluster");
  graph->RemoveNode(size);
  return absl::OkStatus();
}

}  // namespace

absl::Status RewriteSizes(PassContext* context) {
  std::vector<Node*> sizes;
  for (Node* node : (*context->graph)->op_nodes()) {
    if (node->type_string() == "Size" && tensorflow::HasNodeAttr(node->def(), kClusterAttr)) sizes.push_back(node);
  }
  for (Node* size : sizes) HPU_RETURN_IF_ERROR(RewriteSize(context, size));
  return absl::OkStatus();
}

}  // namespace hpu::passes
