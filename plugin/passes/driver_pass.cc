// The pass that TensorFlow calls on each placed graph, before its own auto-clustering (phase 10).
#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "plugin/passes/graph_util.h"
#include "plugin/passes/pipeline.h"
#include "plugin/passes/placement_pass.h"
#include "tensorflow/core/common_runtime/optimization_registry.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/graph/graph_def_builder.h"
#include "tensorflow/core/platform/hash.h"
#include "tensorflow/core/platform/logging.h"

namespace hpu::passes {
namespace {

constexpr int kPhase = 5;

// Whether a graph is for others to cut: an eager op's wrapper, or the function of a cluster.
bool IsOthersGraph(const std::string& function) {
  return IsEagerWrapper(function) || function.compare(0, sizeof(kClusterPrefix) - 1, kClusterPrefix) == 0;
}

// A Session keeps the kernels of stateful nodes by node name, for all graphs that it runs: clusters of different graphs
// must have different names. The names of a graph's nodes tell it from the others, in every process alike.
std::string SessionGraphName(const tensorflow::Graph& graph) {
  uint64_t sum = 0;
  for (const tensorflow::Node* node : graph.op_nodes()) sum += tensorflow::Hash64(node->name());
  return absl::StrCat("session_", absl::Hex(sum & 0xffffffff, absl::kZeroPad8));
}

// A Session's partial run feeds and fetches a graph piece by piece, through these nodes: a cluster would wait for
// pieces that the client gives only after it has seen the cluster's results.
bool RunsInParts(const tensorflow::Graph& graph) {
  return absl::c_any_of(graph.op_nodes(), [](const tensorflow::Node* node) {
    bool client = false;
    return node->IsRecv() && tensorflow::TryGetNodeAttr(node->attrs(), "client_terminated", &client) && client;
  });
}

// Whether placement kept any node off the HPU.
bool AnyRefused(const tensorflow::Graph& graph) {
  return absl::c_any_of(graph.op_nodes(),
                        [](const tensorflow::Node* node) { return node->attrs().Find(kRefusalAttr) != nullptr; });
}

class DriverPass : public tensorflow::GraphOptimizationPass {
 public:
  tensorflow::Status Run(const tensorflow::GraphOptimizationPassOptions& options) override {
    if (options.graph == nullptr || options.flib_def == nullptr) return tensorflow::OkStatus();
    const std::string function = options.function_def == nullptr ? "" : options.function_def->signature().name();
    const bool on_hpu = AnyOnHpu(**options.graph);
    if ((!on_hpu && !AnyRefused(**options.graph)) || IsOthersGraph(function)) return tensorflow::OkStatus();
    const std::string name = function.empty() ? SessionGraphName(**options.graph) : GraphName(function);
    PassContext context(options.graph, options.flib_def, name, Settings::FromEnvironment(options.session_options));
    RecordPlacement(&context);
    tensorflow::Status status;
    if (on_hpu && !RunsInParts(**options.graph)) {
      status = RunPasses(&context);
    } else {
      context.report.nodes = (*options.graph)->num_op_nodes();
    }
    for (tensorflow::Node* node : (*options.graph)->op_nodes()) node->ClearAttr(kRefusalAttr);
    KeepReport(context.report);
    return status;
  }
};

REGISTER_OPTIMIZATION(tensorflow::OptimizationPassRegistry::POST_REWRITE_FOR_EXEC, kPhase, DriverPass);

}  // namespace
}  // namespace hpu::passes
