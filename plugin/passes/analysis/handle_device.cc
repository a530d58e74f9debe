#include "plugin/passes/analysis/handle_device.h"

#include "absl/algorithm/container.h"
#include "plugin/passes/graph/graph_util.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace hpu::passes {
namespace {

using tensorflow::Edge;
using tensorflow::Node;

// The node that creates a handle, skipping identities.
const Node* HandleSource(const Node* node) {
  const Node* before = nullptr;
  while (node->IsIdentity() && node->input_node(0, &before).ok()) node = before;
  return node;
}

// Whether the node that creates a handle is not on the HPU. Before placement, the requested device and the registered
// kernels decide.
bool IsOnOtherDevice(const Node& origin) {
  if (origin.has_assigned_device_name()) return !IsOnHpu(origin);
  if (IsPinnedToOtherDevice(origin)) return true;
  return !origin.IsArg() && !tensorflow::KernelDefAvailable(tensorflow::DeviceType(kDeviceType), origin.def());
}

}  // namespace

bool HasHandleOfOtherDevice(const Node& node) {
  return absl::c_any_of(node.in_edges(), [&](const Edge* edge) {
    return !edge->IsControlEdge() && node.input_type(edge->dst_input()) == tensorflow::DT_RESOURCE &&
           IsOnOtherDevice(*HandleSource(edge->src()));
  });
}

}  // namespace hpu::passes
