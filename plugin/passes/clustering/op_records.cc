#include "plugin/passes/clustering/op_records.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"
#include "plugin/passes/analysis/op_rules.h"
#include "plugin/passes/clustering/cluster_constants.h"
#include "plugin/passes/clustering/cluster_splits.h"
#include "plugin/passes/graph/graph_util.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace hpu::passes {
namespace {

using tensorflow::Edge;
using tensorflow::Graph;
using tensorflow::Node;

// By node name: the node's first refusal, which decided its placement.
using Refusals = absl::flat_hash_map<std::string, const Refusal*>;

OpRefusal Recorded(const Refusal& refusal) {
  return {RuleNamed(refusal.rule()).value_or(Rule::kUnknown), refusal.reason()};
}

// The reason why a node is not on an HPU.
OpRefusal OffDevice(const Node& node, const Refusals& refusals) {
  if (node.IsArg() || node.IsRetval()) return {Rule::kBorder, "is an argument or a result of the graph"};
  const bool pinned_by_user = node.attrs().Find(kUserPinAttr) != nullptr;
  const bool has_kernel = tensorflow::KernelDefAvailable(tensorflow::DeviceType(kDeviceType), node.def());
  // The clustering rule is more informative than a missing kernel.
  if (!has_kernel && !pinned_by_user) {
    if (std::optional<OpRefusal> refusal = RefuseByOp(node)) return *std::move(refusal);
  }
  const auto found = refusals.find(node.name());
  // After placement every node requests its assigned device, so a "pinned" refusal counts only for a user pin.
  if (found != refusals.end() && (pinned_by_user || found->second->rule() != NameOf(Rule::kPinned))) {
    return Recorded(*found->second);
  }
  if (has_kernel) return {Rule::kNeighbours, "TensorFlow placed the op on the device of colocated or connected ops"};
  return {Rule::kNoKernel, absl::StrCat("the HPU has no kernel for ", node.type_string())};
}

// The reason why a node on an HPU is in no cluster.
OpRefusal Unclustered(const Node& node, const Refusals& refusals) {
  if (const auto found = refusals.find(node.name()); found != refusals.end()) {
    return Recorded(*found->second);
  }
  if (IsFreeConstant(node))
    return {Rule::kConstant, "a constant of at most 64 KiB is copied into each cluster that uses it"};
  // A check of a cluster's results, which moved to the device after the marking of the graph.
  if (std::optional<OpRefusal> refusal = RefuseByOp(node)) return *std::move(refusal);
  return {Rule::kUnknown, "no pass recorded a reason"};
}

OpRecord RecordOf(const Node& node) {
  OpRecord record;
  record.set_node(node.name());
  record.set_op(node.type_string());
  record.set_device(node.assigned_device_name());
  for (const tensorflow::DataType type : node.output_types()) {
    record.add_dtypes(tensorflow::DataTypeString(type));
  }
  return record;
}

// Adds a record for each op, with its inputs and assigned device.
std::vector<const Node*> RecordGraph(const Graph& graph, Report* report) {
  std::vector<const Node*> nodes;
  std::vector<int> positions(graph.num_node_ids(), -1);
  for (const Node* node : graph.op_nodes()) {
    positions[node->id()] = static_cast<int>(nodes.size());
    nodes.push_back(node);
    *report->add_ops() = RecordOf(*node);
  }
  for (const Node* node : nodes) {
    std::vector<int> inputs;
    for (const Edge* edge : node->in_edges()) {
      if (edge->src()->IsOp()) inputs.push_back(positions[edge->src()->id()]);
    }
    std::sort(inputs.begin(), inputs.end());
    inputs.erase(std::unique(inputs.begin(), inputs.end()), inputs.end());
    report->mutable_ops(positions[node->id()])->mutable_inputs()->Add(inputs.begin(), inputs.end());
  }
  return nodes;
}

Refusals ByNode(const Report& report) {
  Refusals refusals;
  for (const Refusal& refusal : report.refusals()) refusals.emplace(refusal.node(), &refusal);
  return refusals;
}

void SetRefusal(OpRefusal refusal, OpRecord* record) {
  record->set_rule(std::string(NameOf(refusal.rule)));
  record->set_reason(std::move(refusal.reason));
}

}  // namespace

absl::Status RecordOps(PassContext* context) {
  const Graph& graph = **context->graph;
  Report& report = context->report;
  const Refusals refusals = ByNode(report);
  const std::vector<const Node*> nodes = RecordGraph(graph, &report);
  for (size_t i = 0; i < nodes.size(); ++i) {
    OpRecord& record = *report.mutable_ops(static_cast<int>(i));
    if (tensorflow::TryGetNodeAttr(nodes[i]->attrs(), kClusterAttr, record.mutable_cluster())) continue;
    SetRefusal(IsOnHpu(*nodes[i]) ? Unclustered(*nodes[i], refusals) : OffDevice(*nodes[i], refusals), &record);
  }
  HPU_ASSIGN_OR_RETURN(const std::vector<ClusterSplit> splits, FindSplits(graph, *context));
  for (const ClusterSplit& split : splits) *report.add_splits() = split;
  return absl::OkStatus();
}

void RecordUnclusteredOps(PassContext* context, Rule rule, const std::string& reason) {
  Report& report = context->report;
  const std::vector<const Node*> nodes = RecordGraph(**context->graph, &report);
  const Refusals refusals = ByNode(report);
  for (size_t i = 0; i < nodes.size(); ++i) {
    const bool hpu = IsOnHpu(*nodes[i]);
    if (hpu) report.set_hpu_nodes(report.hpu_nodes() + 1);
    SetRefusal(hpu ? OpRefusal{rule, reason} : OffDevice(*nodes[i], refusals), report.mutable_ops(static_cast<int>(i)));
  }
  TagNodes(context);
}

void TagNodes(PassContext* context) {
  context->report.set_record(NextRecord());
  for (Node* node : (*context->graph)->op_nodes()) node->AddAttr(kRecordAttr, context->report.record());
}

}  // namespace hpu::passes
