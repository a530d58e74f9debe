#include "plugin/passes/analysis/handle_device.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "plugin/passes/graph/graph_util.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace hpu::passes {
namespace {

using tensorflow::Edge;
using tensorflow::Node;

// Whether the node that creates a handle is not on the HPU. Before placement, the requested device and the registered
// kernels decide.
bool IsOnOtherDevice(const Node& origin) {
  if (origin.has_assigned_device_name()) return !IsOnHpu(origin);
  if (IsPinnedToOtherDevice(origin)) return true;
  return !origin.IsArg() && !tensorflow::KernelDefAvailable(tensorflow::DeviceType(kDeviceType), origin.def());
}

}  // namespace

tensorflow::OutputTensor HandleSource(const Node& node, int input) {
  tensorflow::OutputTensor source = InputOf(node, input);
  while (source.node->IsIdentity()) source = InputOf(*source.node, 0);
  return source;
}

bool PassesHandleTwice(const Node& node) {
  absl::flat_hash_set<std::pair<const Node*, int>> seen;
  for (int i = 0; i < node.num_inputs(); ++i) {
    if (node.input_type(i) != tensorflow::DT_RESOURCE) continue;
    const tensorflow::OutputTensor source = HandleSource(node, i);
    if (!seen.emplace(source.node, source.index).second) return true;
  }
  return false;
}

bool HasHandleOfOtherDevice(const Node& node) {
  return absl::c_any_of(node.in_edges(), [&](const Edge* edge) {
    return !edge->IsControlEdge() && node.input_type(edge->dst_input()) == tensorflow::DT_RESOURCE &&
           IsOnOtherDevice(*HandleSource(node, edge->dst_input()).node);
  });
}

}  // namespace hpu::passes
