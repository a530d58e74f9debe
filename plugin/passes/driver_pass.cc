#include "plugin/passes/driver_pass.h"

#include "absl/algorithm/container.h"
#include "plugin/base/log/log.h"
#include "plugin/passes/clustering/op_records.h"
#include "plugin/passes/graph/graph_names.h"
#include "plugin/passes/graph/graph_util.h"
#include "plugin/passes/pipeline.h"
#include "plugin/passes/placement/placement_pass.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/graph/graph_def_builder.h"
#include "tensorflow/core/platform/logging.h"

namespace hpu::passes {
namespace {

// Whether a Session runs the graph by partial_run, which feeds and fetches tensors in several steps. The feeds are Recv
// nodes. A cluster could wait forever for a feed, because the client may send the feed only after fetching another
// result of the cluster.
bool RunsInParts(const tensorflow::Graph& graph) {
  return absl::c_any_of(graph.op_nodes(), [](const tensorflow::Node* node) {
    bool client = false;
    return node->IsRecv() && tensorflow::TryGetNodeAttr(node->attrs(), "client_terminated", &client) && client;
  });
}

// Whether the placement pass refused any node (kRefusalAttr).
bool AnyRefused(const tensorflow::Graph& graph) {
  return absl::c_any_of(graph.op_nodes(),
                        [](const tensorflow::Node* node) { return node->attrs().Find(kRefusalAttr) != nullptr; });
}

}  // namespace
tensorflow::Status RunDriverPass(const tensorflow::GraphOptimizationPassOptions& options) {
  if (options.graph == nullptr || options.flib_def == nullptr) return tensorflow::OkStatus();
  const std::string function = FunctionName(options);
  const bool on_hpu = AnyOnHpu(**options.graph);
  const bool records = CollectsOpRecords() && MayUseHpu(options);
  if ((!on_hpu && !records && !AnyRefused(**options.graph)) || IsSkippedGraph(function)) return tensorflow::OkStatus();
  log::ReadSettings();
  PassContext context(options.graph, options.flib_def, NameOfGraph(function, **options.graph),
                      Settings::FromEnvironment(options.session_options));
  context.function = function;
  context.report.set_function(function);
  RecordPlacement(&context);
  tensorflow::Status status;
  if (on_hpu && !RunsInParts(**options.graph)) {
    status = RunPasses(&context);
  } else {
    context.report.set_nodes((*options.graph)->num_op_nodes());
    if (records) RecordUnclusteredOps(&context, Rule::kPartialRun, "a Session runs the graph in parts (partial_run)");
  }
  for (tensorflow::Node* node : (*options.graph)->op_nodes()) node->ClearAttr(kRefusalAttr);
  KeepReport(context.report);
  return status;
}

}  // namespace hpu::passes
