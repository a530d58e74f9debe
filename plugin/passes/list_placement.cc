#include "plugin/passes/list_placement.h"

#include "absl/algorithm/container.h"
#include "plugin/passes/graph_util.h"
#include "tensorflow/core/util/device_name_utils.h"

namespace hpu::passes {
namespace {

using tensorflow::Node;

bool Holds(const tensorflow::DataTypeVector& types, tensorflow::DataType type) {
  return absl::c_linear_search(types, type);
}

}  // namespace

std::string HostOf(const std::string& device) {
  tensorflow::DeviceNameUtils::ParsedName name;
  if (!tensorflow::DeviceNameUtils::ParseFullName(device, &name)) return device;
  name.type = "CPU";
  name.id = 0;
  return tensorflow::DeviceNameUtils::ParsedNameToString(name);
}

void MoveListsToTheHost(tensorflow::Graph* graph, Report* report) {
  for (Node* node : graph->op_nodes()) {
    if (!IsOnHpu(*node) || node->IsArg() || node->IsRetval() || node->attrs().Find(kClusterAttr) != nullptr) continue;
    const bool has_list =
        Holds(node->input_types(), tensorflow::DT_VARIANT) || Holds(node->output_types(), tensorflow::DT_VARIANT);
    if (!has_list || Holds(node->input_types(), tensorflow::DT_RESOURCE)) continue;
    // Calls bring their own graph, which gets passes of its own.
    if (node->IsPartitionedCall()) continue;
    node->set_assigned_device_name(HostOf(node->assigned_device_name()));
    report->rewrites.push_back({node->name(), node->type_string(), "segment", "moved to the CPU: holds a TensorList"});
  }
}

}  // namespace hpu::passes
