#include "plugin/passes/placement/host_device_transfer_pass.h"

#include <algorithm>
#include <map>
#include <utility>

#include "plugin/base/status_macros.h"
#include "plugin/passes/graph/graph_util.h"
#include "plugin/passes/reporting/report.h"
#include "tensorflow/core/framework/node_def_util.h"

namespace hpu::passes {
namespace {

using tensorflow::Edge;
using tensorflow::Graph;
using tensorflow::Node;

using Partitions = std::unordered_map<std::string, std::unique_ptr<Graph>>;

// The report number of the partitioned graph; 0 if the graph has no op records.
int64_t TransferRecordOf(const Partitions& partitions) {
  int64_t record = 0;
  for (const auto& [device, graph] : partitions) {
    for (const Node* node : graph->op_nodes()) {
      if (tensorflow::TryGetNodeAttr(node->attrs(), kRecordAttr, &record)) return record;
    }
  }
  return 0;
}

tensorflow::Status Note(Node* node, int64_t record, std::map<std::string, HostDeviceTransfer>* transfers) {
  std::string key, from, to;
  HPU_RETURN_IF_ERROR(tensorflow::GetNodeAttr(node->attrs(), "tensor_name", &key));
  HPU_RETURN_IF_ERROR(tensorflow::GetNodeAttr(node->attrs(), "send_device", &from));
  HPU_RETURN_IF_ERROR(tensorflow::GetNodeAttr(node->attrs(), "recv_device", &to));
  if (IsHpuDevice(from) == IsHpuDevice(to)) return tensorflow::OkStatus();
  node->AddAttr(kRecordAttr, record);
  HostDeviceTransfer& transfer = (*transfers)[key];
  transfer.set_record(record);
  transfer.set_key(key);
  if (node->IsSend()) {
    const Edge* input = nullptr;
    HPU_RETURN_IF_ERROR(node->input_edge(0, &input));
    transfer.set_source(input->src()->name());
  } else {
    for (const Edge* edge : node->out_edges()) {
      if (!edge->IsControlEdge()) transfer.add_to(edge->dst()->name());
    }
  }
  return tensorflow::OkStatus();
}

}  // namespace

tensorflow::Status RunHostDeviceTransferPass(const tensorflow::GraphOptimizationPassOptions& options) {
  if (options.partition_graphs == nullptr || !CollectsOpRecords()) return tensorflow::OkStatus();
  const int64_t record = TransferRecordOf(*options.partition_graphs);
  if (record == 0) return tensorflow::OkStatus();
  std::map<std::string, HostDeviceTransfer> transfers;  // transfers by tensor key
  for (const auto& [device, graph] : *options.partition_graphs) {
    for (Node* node : graph->op_nodes()) {
      if (node->IsSend() || node->IsRecv()) HPU_RETURN_IF_ERROR(Note(node, record, &transfers));
    }
  }
  for (auto& [key, transfer] : transfers) {
    std::sort(transfer.mutable_to()->begin(), transfer.mutable_to()->end());
    KeepTransfer(std::move(transfer));
  }
  return tensorflow::OkStatus();
}

}  // namespace hpu::passes
