#include "plugin/tensorflow/kernels/eager/variable_registration.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "plugin/passes/analysis/kernel_search.h"
#include "plugin/tensorflow/device/hpu_device.h"
#include "plugin/tensorflow/kernels/eager/default_kernels.h"
#include "plugin/tensorflow/kernels/eager/kernel_registration.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace hpu {
namespace {

using tensorflow::DataType;
using tensorflow::KernelDef;
using tensorflow::NodeDef;
using tensorflow::OpDef;

// Whether a resource argument of this name is not a variable. Ops name such arguments after the resource kind
// ("table_handle", "iterator").
bool IsNameOfOtherResource(absl::string_view argument) {
  static const auto* names = new absl::flat_hash_set<absl::string_view>{
      "cache",  "client",           "communicator", "handle",        "iteration_counter", "iterator",
      "mutex",  "iterators",        "queue_handle", "reader_handle", "resource_handle",   "multi_device_iterator",
      "server", "stats_aggregator", "status_or",    "summary",       "table_handle",      "ordering_token",
      "writer", "seed_generator",   "thread_pool"};
  return names->contains(argument);
}

// Whether an op computes with a variable's value. Such an op has a resource handle, and all other arguments and results
// are arrays.
bool UsesVariable(const OpDef& op) {
  bool has_handle = false;
  for (const auto& input : op.input_arg()) {
    if (input.type() == tensorflow::DT_VARIANT || input.type() == tensorflow::DT_STRING) return false;
    if (!input.type_list_attr().empty()) return false;
    if (input.type() != tensorflow::DT_RESOURCE) continue;
    if (IsNameOfOtherResource(input.name())) return false;
    has_handle = true;
  }
  return has_handle && absl::c_all_of(op.output_arg(), [](const OpDef::ArgDef& output) {
           return !output.is_ref() && output.type_list_attr().empty() && output.type() != tensorflow::DT_RESOURCE &&
                  output.type() != tensorflow::DT_VARIANT && output.type() != tensorflow::DT_STRING;
         });
}

const KernelDef* FindHpuKernel(const NodeDef& node) { return passes::FindKernel(kDeviceType, node); }

// Whether the HPU supports variables of this type. The int32 kernel (variable_host_memory.cc) may be registered after
// this call.
bool HasVariables(DataType type) {
  if (type == tensorflow::DT_INT32) return true;
  NodeDef node;
  node.set_name("variable");
  node.set_op("VarHandleOp");
  tensorflow::AddNodeAttr("dtype", type, &node);
  return FindHpuKernel(node) != nullptr;
}

// All combinations of a kernel's types for which the HPU has variables, each as a node with these type attributes.
std::vector<NodeDef> ChoicesOf(const KernelDef& kernel, const std::vector<const OpDef::AttrDef*>& attributes) {
  std::vector<NodeDef> choices(1);
  choices[0].set_name(kernel.op());
  choices[0].set_op(kernel.op());
  for (const OpDef::AttrDef* attribute : attributes) {
    std::vector<NodeDef> more;
    for (const DataType type : AllowedTypes(kernel, *attribute)) {
      if (!HasVariables(type)) continue;
      for (NodeDef choice : choices) {
        tensorflow::AddNodeAttr(attribute->name(), type, &choice);
        more.push_back(std::move(choice));
      }
    }
    choices = std::move(more);
  }
  return choices;
}

// Whether the node already has an HPU kernel, or a default kernel that does not access device memory from the host.
bool HasHpuKernel(const NodeDef& node) {
  const KernelDef* kernel = FindHpuKernel(node);
  if (kernel == nullptr) return false;
  return kernel->device_type() == kDeviceType || !DefaultTouchesData(node.op()) ||
         absl::c_any_of(node.attr(), [](const auto& entry) { return entry.second.type() == tensorflow::DT_VARIANT; });
}

// Whether the CPU kernel would crash the process: StatefulRandomBinomial reads an int64 shape as int32, and a CHECK
// fails. Without a kernel the call returns an error.
bool CrashesProcess(const NodeDef& node) {
  const auto shape = node.attr().find("S");
  return node.op() == "StatefulRandomBinomial" && shape != node.attr().end() &&
         shape->second.type() == tensorflow::DT_INT64;
}

void RegisterOnHost(const KernelDef& cpu, const OpDef& op, const NodeDef& choice) {
  auto kernel = std::make_unique<KernelDef>(cpu);
  kernel->set_device_type(kDeviceType);
  std::set<std::string> int32;
  for (const auto& [name, value] : choice.attr()) {
    Constrain(kernel.get(), name, {value.type()});
    if (value.type() == tensorflow::DT_INT32) int32.insert(name);
  }
  SetHostMemory(op, int32, kernel.get());
  // The CPU kernel reads these arguments on the host, so device memory would cost two copies.
  for (const std::string& argument : cpu.host_memory_arg()) {
    if (!absl::c_linear_search(kernel->host_memory_arg(), argument)) kernel->add_host_memory_arg(argument);
  }
  RegisterEagerKernel(std::move(kernel));
}

}  // namespace

void RegisterVariableOps() {
  const tensorflow::KernelList kernels = tensorflow::GetAllRegisteredKernels();
  for (const KernelDef& cpu : kernels.kernel()) {
    if (cpu.device_type() != tensorflow::DEVICE_CPU) continue;
    const OpDef* op = nullptr;
    if (!tensorflow::OpRegistry::Global()->LookUpOpDef(cpu.op(), &op).ok() || !UsesVariable(*op)) continue;
    // If stock Horovod is loaded first, RegisterHorovodKernel registers the kernel of its variable op later.
    if (absl::StartsWith(cpu.op(), "Horovod")) continue;
    for (const NodeDef& choice : ChoicesOf(cpu, TypeAttributes(*op))) {
      if (!HasHpuKernel(choice) && !CrashesProcess(choice)) RegisterOnHost(cpu, *op, choice);
    }
  }
}

}  // namespace hpu
