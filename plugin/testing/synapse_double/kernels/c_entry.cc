#include "plugin/testing/synapse_double/kernels/c_entry.h"

#include <cstdio>
#include <string>
#include <vector>

#include "plugin/testing/synapse_double/kernels/kernel.h"
#include "plugin/testing/synapse_double/kernels/registry.h"

namespace hpu::synapse_double {
namespace {

std::vector<TensorView> ViewsOf(const HpuKernelTensor* tensors, size_t count) {
  std::vector<TensorView> views(count);
  for (size_t i = 0; i < count; ++i) {
    const HpuKernelTensor& tensor = tensors[i];
    views[i].data = tensor.data;
    views[i].type = static_cast<ElementType>(tensor.type);
    views[i].sizes.assign(tensor.sizes, tensor.sizes + tensor.rank);
    views[i].strides.assign(tensor.strides, tensor.strides + tensor.rank);
  }
  return views;
}

}  // namespace
}  // namespace hpu::synapse_double

int run_kernel(const char* guid, const HpuKernelTensor* inputs, size_t input_count, const HpuKernelTensor* outputs,
               size_t output_count, const void* params, size_t params_size, const HpuKernelSwitches* switches,
               char* message, size_t message_size) {
  namespace kernels = hpu::synapse_double;
  kernels::KernelArguments arguments;
  arguments.inputs = kernels::ViewsOf(inputs, input_count);
  arguments.outputs = kernels::ViewsOf(outputs, output_count);
  arguments.params = params;
  arguments.params_size = params_size;
  arguments.switches = {switches->flush_denormals != 0, switches->lose_nan_in_max_min != 0, switches->seed,
                        switches->order};
  const kernels::KernelStatus status = kernels::RunKernel(guid, arguments);
  if (status.ok()) return 0;
  std::snprintf(message, message_size, "%s", status.text().c_str());
  return 1;
}

size_t list_kernels(char* text, size_t size) {
  namespace kernels = hpu::synapse_double;
  std::string list;
  for (const auto& [stem, entry] : kernels::KernelRegistry::Get().entries()) {
    list += stem;
    if (entry.suffix == kernels::Suffix::kType) list += "_*";
    if (entry.suffix == kernels::Suffix::kCast) list += "_*_to_*";
    for (const size_t size : entry.params_sizes) list += " " + std::to_string(size);
    list += "\n";
  }
  std::snprintf(text, size, "%s", list.c_str());
  return list.size() + 1;
}
