// Registration of EagerKernels when the library is loaded. Covers ops with a lowering, and random, variable and check
// ops that run on their CPU kernels.
#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "plugin/compat/cluster_compilation.h"
#include "plugin/compiler/compilation_device.h"
#include "plugin/op_facts/op_facts.h"
#include "plugin/tensorflow/device/hpu_device.h"
#include "plugin/tensorflow/kernels/eager/default_kernels.h"
#include "plugin/tensorflow/kernels/eager/kernel_registration.h"
#include "plugin/tensorflow/kernels/eager/variable_registration.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace hpu {
namespace {

using tensorflow::DataType;
using tensorflow::KernelDef;
using tensorflow::OpDef;

// Whether an op has arguments that recipes do not support: stacks, tensor arrays, variants (such as lists of tensors)
// and resource results.
bool HasNonArrayArguments(const OpDef& op) {
  if (UsesStackOrTensorArray(op.name())) return true;
  return absl::c_any_of(op.input_arg(), [](const auto& input) { return input.type() == tensorflow::DT_VARIANT; }) ||
         absl::c_any_of(op.output_arg(), [](const auto& output) {
           return output.type() == tensorflow::DT_VARIANT || output.type() == tensorflow::DT_RESOURCE;
         });
}

// Registers one kernel for each combination of int32 type attributes, because a registration fixes memory types.
void RegisterOp(const KernelDef& lowering, const OpDef& op, const DefaultKernels& defaults) {
  const std::vector<const OpDef::AttrDef*> attributes = TypeAttributes(op);
  const size_t split = std::min<size_t>(attributes.size(), 4);
  for (uint32_t mask = 0; mask < (1u << split); ++mask) {
    auto kernel = std::make_unique<KernelDef>(lowering);
    kernel->set_device_type(kDeviceType);
    std::set<std::string> int32;
    bool possible = true;
    for (size_t i = 0; i < split && possible; ++i) {
      const bool is_int32 = (mask >> i & 1) != 0;
      std::vector<DataType> types = AllowedTypes(lowering, *attributes[i]);
      types.erase(std::remove_if(types.begin(), types.end(),
                                 [&](DataType type) {
                                   // Variants have their own kernels, because recipes do not support variants.
                                   return (type == tensorflow::DT_INT32) != is_int32 ||
                                          type == tensorflow::DT_VARIANT || defaults.host_types.count(type) > 0;
                                 }),
                  types.end());
      possible = !types.empty();
      Constrain(kernel.get(), attributes[i]->name(), types);
      if (is_int32) int32.insert(attributes[i]->name());
    }
    // A default kernel computes only nodes that satisfy all its constraints.
    const bool by_default =
        !defaults.int32_attributes.empty() &&
        std::includes(int32.begin(), int32.end(), defaults.int32_attributes.begin(), defaults.int32_attributes.end());
    if (!possible || by_default) continue;
    SetHostMemory(op, int32, kernel.get());
    RegisterEagerKernel(std::move(kernel));
  }
}

bool HasResources(const OpDef& op) {
  return absl::c_any_of(op.input_arg(), [](const auto& input) { return input.type() == tensorflow::DT_RESOURCE; });
}

// Registers random ops, whose CPU kernels draw the numbers outside clusters. RegisterVariableOps registers the ops of
// generators.
void RegisterRandomOps() {
  const tensorflow::KernelList kernels = tensorflow::GetAllRegisteredKernels();
  for (const KernelDef& cpu : kernels.kernel()) {
    if (cpu.device_type() != tensorflow::DEVICE_CPU || !DrawsOnHost(cpu.op())) continue;
    const OpDef* op = nullptr;
    if (!tensorflow::OpRegistry::Global()->LookUpOpDef(cpu.op(), &op).ok() || HasResources(*op)) continue;
    if (absl::StrContains(cpu.op(), "Shuffle") || absl::StrContains(cpu.op(), "Gamma") ||
        absl::StrContains(cpu.op(), "Poisson") || absl::StrContains(cpu.op(), "Parameterized")) {
      continue;
    }
    auto kernel = std::make_unique<KernelDef>(cpu);
    kernel->set_device_type(kDeviceType);
    kernel->clear_host_memory_arg();
    bool int32_result = false;
    for (const auto& constraint : cpu.constraint()) {
      const auto& types = constraint.allowed_values().list().type();
      for (const auto& output : op->output_arg()) {
        int32_result |=
            output.type_attr() == constraint.name() && types.size() == 1 && types[0] == tensorflow::DT_INT32;
      }
    }
    for (const auto& input : op->input_arg()) kernel->add_host_memory_arg(input.name());
    if (int32_result) {
      for (const auto& output : op->output_arg()) kernel->add_host_memory_arg(output.name());
    }
    RegisterEagerKernel(std::move(kernel));
  }
}

// Registers CheckNumerics, which runs on its CPU kernel because compiled code cannot raise errors. Without an HPU
// kernel, the op could not be colocated with the tensors that it checks.
void RegisterChecks() {
  for (const char* op : {"CheckNumerics", "CheckNumericsV2"}) {
    const tensorflow::KernelList kernels = tensorflow::GetRegisteredKernelsForOp(op);
    for (const KernelDef& cpu : kernels.kernel()) {
      if (cpu.device_type() != tensorflow::DEVICE_CPU) continue;
      auto kernel = std::make_unique<KernelDef>(cpu);
      kernel->set_device_type(kDeviceType);
      RegisterEagerKernel(std::move(kernel));
    }
  }
}

bool RegisterEagerKernels() {
  RegisterLowerings();
  const absl::flat_hash_map<std::string, DefaultKernels> defaults = ReadDefaultKernels();
  for (const KernelDef* lowering : tensorflow::XlaOpRegistry::DeviceKernels(kCompilationDevice, false)) {
    const OpDef* op = nullptr;
    if (!tensorflow::OpRegistry::Global()->LookUpOpDef(lowering->op(), &op).ok()) continue;
    if (HasNonArrayArguments(*op) || IsKeptFromCompiler(op->name())) continue;
    if (op->name() == "DynamicPartition") continue;  // see partition_kernel.cc
    // The size of the result depends on data, so only a cluster that consumes the result can contain the op.
    if (FactsOf(op->name()).result_size == ResultSize::kBounded) continue;
    const auto found = defaults.find(op->name());
    DefaultKernels own = found == defaults.end() || DefaultTouchesData(op->name()) ? DefaultKernels() : found->second;
    if (!own.only_on_host) own.host_types.clear();
    if (own.exist && own.int32_attributes.empty()) continue;  // the default kernels only move tensors
    RegisterOp(*lowering, *op, own);
  }
  RegisterRandomOps();
  RegisterVariableOps();
  RegisterChecks();
  return true;
}

[[maybe_unused]] const bool kernels_registered = RegisterEagerKernels();

}  // namespace
}  // namespace hpu
