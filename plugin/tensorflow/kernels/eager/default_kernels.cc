#include "plugin/tensorflow/kernels/eager/default_kernels.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace hpu {
namespace {

using tensorflow::DataType;
using tensorflow::KernelDef;
using tensorflow::OpDef;

// Whether all arguments of a type attribute are in host memory. The default kernel of ZerosLike expects int32 in device
// memory and returns int32 in host memory, which does not work for eager calls. The plugin registers its own kernels
// for such ops.
bool KeepsOnHost(const KernelDef& kernel, const std::string& attribute) {
  const OpDef* op = nullptr;
  if (!tensorflow::OpRegistry::Global()->LookUpOpDef(kernel.op(), &op).ok()) return false;
  const auto on_host = [&](const OpDef::ArgDef& argument) {
    return argument.type_attr() != attribute || absl::c_linear_search(kernel.host_memory_arg(), argument.name());
  };
  return absl::c_all_of(op->input_arg(), on_host) && absl::c_all_of(op->output_arg(), on_host);
}

// The kernel's type, if it supports a single type and has all arguments in host memory; otherwise DT_INVALID.
DataType HostType(const KernelDef& kernel) {
  if (kernel.constraint_size() != 1 || kernel.constraint(0).allowed_values().list().type_size() != 1) {
    return tensorflow::DT_INVALID;
  }
  const OpDef* op = nullptr;
  if (!tensorflow::OpRegistry::Global()->LookUpOpDef(kernel.op(), &op).ok()) return tensorflow::DT_INVALID;
  const auto on_host = [&](const OpDef::ArgDef& argument) {
    return absl::c_linear_search(kernel.host_memory_arg(), argument.name());
  };
  const bool all = absl::c_all_of(op->input_arg(), on_host) && absl::c_all_of(op->output_arg(), on_host);
  return all ? kernel.constraint(0).allowed_values().list().type(0) : tensorflow::DT_INVALID;
}

}  // namespace

absl::flat_hash_map<std::string, DefaultKernels> ReadDefaultKernels() {
  absl::flat_hash_map<std::string, DefaultKernels> defaults;
  const tensorflow::KernelList kernels = tensorflow::GetAllRegisteredKernels();
  for (const KernelDef& kernel : kernels.kernel()) {
    if (kernel.device_type() != tensorflow::DEVICE_DEFAULT) continue;
    std::set<std::string> int32;
    for (const auto& constraint : kernel.constraint()) {
      const auto& types = constraint.allowed_values().list().type();
      if (types.size() == 1 && types[0] == tensorflow::DT_INT32) int32.insert(constraint.name());
    }
    if (absl::c_any_of(int32, [&](const std::string& attribute) { return !KeepsOnHost(kernel, attribute); })) continue;
    DefaultKernels& entry = defaults[kernel.op()];
    const DataType host_type = HostType(kernel);
    entry.only_on_host &= host_type != tensorflow::DT_INVALID;
    if (host_type == tensorflow::DT_INT64) {
      entry.host_types.insert(host_type);
      continue;
    }
    if (!entry.exist) {
      entry.int32_attributes = std::move(int32);
    } else {
      std::set<std::string> both;
      absl::c_set_intersection(entry.int32_attributes, int32, std::inserter(both, both.end()));
      entry.int32_attributes = std::move(both);
    }
    entry.exist = true;
  }
  return defaults;
}

bool DefaultTouchesData(absl::string_view op) {
  static const auto* ops = new absl::flat_hash_set<absl::string_view>{"AssignAddVariableOp", "AssignSubVariableOp",
                                                                      "ResourceGather", "ResourceScatterUpdate"};
  return ops->contains(op);
}

}  // namespace hpu
