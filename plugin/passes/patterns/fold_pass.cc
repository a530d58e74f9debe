#include "plugin/passes/patterns/fold_pass.h"

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "plugin/base/flags/flags.h"
#include "plugin/compat/graph_rewrites.h"
#include "plugin/passes/analysis/constant_value.h"
#include "plugin/passes/functions/functional_control_flow.h"
#include "plugin/passes/graph/graph_util.h"
#include "plugin/passes/graph/unused_nodes.h"
#include "tensorflow/core/platform/env.h"
#include "tensorflow/core/platform/logging.h"

namespace hpu::passes {
namespace {

using tensorflow::Graph;
using tensorflow::Node;

constexpr char kFoldSuffix[] = "/habana_folded";

// Index of the input that determines the result's size, for ops whose result may be much larger than the inputs. -1 for
// other ops.
int SizeInput(const std::string& op) {
  static const auto* inputs =
      new absl::flat_hash_map<std::string, int>({{"Fill", 0}, {"Tile", 1}, {"BroadcastTo", 1}, {"LinSpace", 2}});
  const auto found = inputs->find(op);
  return found == inputs->end() ? -1 : found->second;
}

// Whether constant folding may compute a node. Excludes loops, branches and calls, which may run for a long time.
// Excludes variants, because a TensorList must stay in the cluster that fills it.
bool IsFoldable(const Node& node) {
  const bool calls = IsFunctionalControlFlow(node) || node.IsFunctionCall();
  return IsOnHpu(node) && !calls && !node.op_def().is_stateful() &&
         !absl::c_linear_search(node.output_types(), tensorflow::DT_VARIANT);
}

// Whether to compute a node's value. TensorFlow checks the value's size only after computing it.
bool IsWorthComputing(const Node& node, int64_t limit) {
  if (!IsFoldable(node)) return false;
  const int input = SizeInput(node.type_string());
  if (input < 0) return true;
  const Node* size = nullptr;
  const tensorflow::AttrValue* value =
      node.input_node(input, &size).ok() && size->IsConstant() ? size->attrs().Find("value") : nullptr;
  if (value == nullptr) return false;
  double elements = 1;
  for (const int64_t factor : WholeNumbersOf(*value)) elements *= static_cast<double>(factor);
  return elements * tensorflow::DataTypeSize(tensorflow::BaseType(node.output_type(0))) <= static_cast<double>(limit);
}

bool DependsOnConstants(const Node& node) {
  return node.num_inputs() > 0 && absl::c_all_of(node.in_edges(), [](const tensorflow::Edge* edge) {
           return edge->IsControlEdge() || edge->src()->IsConstant();
         });
}

// The HPU to which folded constants are assigned.
std::string DeviceOf(const Graph& graph) {
  for (const Node* node : graph.op_nodes()) {
    if (IsOnHpu(*node)) return node->assigned_device_name();
  }
  return "";
}

}  // namespace

absl::Status FoldConstants(PassContext* context) {
  Graph* graph = context->graph->get();
  const int64_t limit = flags::TfMaxConstSizeInCluster();
  // Checks first whether any op can be folded, because folding is expensive and most graphs are already folded.
  const bool any = absl::c_any_of(graph->op_nodes(), [limit](const Node* node) {
    return DependsOnConstants(*node) && IsWorthComputing(*node, limit);
  });
  if (!any || HasLoweredControlFlow(*graph)) return absl::OkStatus();
  std::vector<int> used;
  for (const Node* node : graph->op_nodes()) {
    const bool is_used = absl::c_any_of(node->out_edges(), [](const auto* edge) { return !edge->dst()->IsSink(); });
    if (IsOnHpu(*node) && is_used) used.push_back(node->id());
  }
  std::vector<std::string> names;
  tensorflow::ConstantFoldingOptions options;
  options.max_constant_size_in_bytes = limit;
  options.consider = [limit](const Node* node) { return IsWorthComputing(*node, limit); };
  options.generate_new_name = [&names](Graph* target, const std::string& old) {
    return names.emplace_back(target->NewName(absl::StrCat(old, kFoldSuffix)));
  };
  bool changed = false;
  const tensorflow::Status status =
      tensorflow::ConstantFold(options, /*function_library=*/nullptr, tensorflow::Env::Default(),
                               /*partition_device=*/nullptr, graph, &changed);
  // Not an error: an op that fails in constant folding fails again when it runs.
  if (!status.ok()) VLOG(1) << "constant folding failed, so the graph stays unfolded: " << status;
  if (!changed) return absl::OkStatus();
  const std::string device = DeviceOf(*graph);
  const absl::flat_hash_set<std::string> made(names.begin(), names.end());
  for (Node* node : graph->op_nodes()) {
    if (!made.contains(node->name())) continue;
    node->set_assigned_device_name(device);
    const std::string from = node->name().substr(0, node->name().find(kFoldSuffix));
    AddRewrite(&context->report, from, "", "fold", absl::StrCat("folded into the constant ", node->name()));
  }
  RemoveUnused(graph, std::move(used));
  return absl::OkStatus();
}

}  // namespace hpu::passes
