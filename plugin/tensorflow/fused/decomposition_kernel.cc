#include "plugin/tensorflow/fused/decomposition_kernel.h"

#include <algorithm>

#include "plugin/base/status_macros.h"
#include "plugin/compiler/checked_lowering.h"
#include "plugin/compiler/compilation_device.h"
#include "plugin/tensorflow/fused/fused_op.h"
#include "tensorflow/core/framework/device.h"

namespace hpu {

using tensorflow::Tensor;
using tensorflow::TensorValue;

DecompositionKernel::DecompositionKernel(tensorflow::OpKernelConstruction* construction) : OpKernel(construction) {
  OP_REQUIRES_OK(construction, Construct(construction));
}

absl::Status DecompositionKernel::Construct(tensorflow::OpKernelConstruction* construction) {
  const tensorflow::OpDef* op = nullptr;
  HPU_RETURN_IF_ERROR(tensorflow::OpRegistry::Global()->LookUpOpDef(def().op(), &op));
  HPU_ASSIGN_OR_RETURN(const std::vector<passes::OpStatement> statements, FusedOp::DecompositionOf(def()));
  HPU_ASSIGN_OR_RETURN(decomposition_, MakeDecomposition(statements, def(), *op, input_types()));
  // Of a fused op's unchecked lowering, the plain ops' lowerings are checked.
  const bool is_unchecked = construction->device_type() == tensorflow::DeviceType(kUncheckedDevice);
  const tensorflow::DeviceType device =
      is_unchecked ? tensorflow::DeviceType(kCompilationDevice) : construction->device_type();
  for (const Decomposition::Step& step : decomposition_.steps) {
    tensorflow::OpKernel* kernel = nullptr;
    HPU_RETURN_IF_ERROR(tensorflow::CreateOpKernel(
        device, construction->device(), construction->device()->GetAllocator({}), construction->function_library(),
        construction->resource_manager(), step.properties, construction->graph_def_version(), &kernel));
    kernels_.emplace_back(kernel);
  }
  last_use_.assign(decomposition_.steps.size(), -1);
  for (size_t i = 0; i < decomposition_.steps.size(); ++i) {
    for (const Decomposition::Value& input : decomposition_.steps[i].inputs) {
      if (input.step >= 0) last_use_[input.step] = static_cast<int>(i);
    }
  }
  for (const Decomposition::Value& result : decomposition_.results) {
    if (result.step >= 0) last_use_[result.step] = static_cast<int>(decomposition_.steps.size());
  }
  return absl::OkStatus();
}

void DecompositionKernel::Compute(tensorflow::OpKernelContext* context) { OP_REQUIRES_OK(context, Run(context)); }

absl::Status DecompositionKernel::Run(tensorflow::OpKernelContext* context) {
  std::vector<std::vector<Tensor>> values(decomposition_.steps.size());
  const auto value_of = [&](const Decomposition::Value& value) {
    return value.step < 0 ? context->input(value.index) : values[value.step][value.index];
  };
  auto* device = static_cast<tensorflow::Device*>(context->device());
  for (size_t i = 0; i < decomposition_.steps.size(); ++i) {
    const Decomposition::Step& step = decomposition_.steps[i];
    std::vector<Tensor> tensors;
    for (const Decomposition::Value& input : step.inputs) tensors.push_back(value_of(input));
    for (const Decomposition::Value& input : step.inputs) {
      // Releases values before their last use, so that the op can reuse the buffers.
      if (input.step >= 0 && last_use_[input.step] == static_cast<int>(i)) values[input.step].clear();
    }
    std::vector<TensorValue> inputs;
    for (Tensor& tensor : tensors) inputs.emplace_back(&tensor);
    tensorflow::OpKernel* kernel = kernels_[i].get();
    const std::vector<tensorflow::AllocatorAttributes> input_attributes(inputs.size());
    std::vector<tensorflow::AllocatorAttributes> output_attributes(kernel->num_outputs());
    tensorflow::OpKernelContext::Params params;
    params.step_id = context->step_id();
    params.op_kernel = kernel;
    params.device = device;
    params.resource_manager = context->resource_manager();
    params.step_container = context->step_container();
    params.cancellation_manager = context->cancellation_manager();
    params.function_library = context->function_library();
    params.op_device_context = context->op_device_context();
    params.runner = context->runner();
    params.frame_iter = context->frame_iter();
    params.inputs = inputs;
    params.input_alloc_attrs = input_attributes;
    params.output_attr_array = output_attributes.data();
    tensorflow::OpKernelContext inner(&params, kernel->num_outputs());
    device->Compute(kernel, &inner);
    HPU_RETURN_IF_ERROR(inner.status());
    for (int output = 0; output < kernel->num_outputs(); ++output) {
      const std::unique_ptr<Tensor> made(inner.release_output(output).tensor);
      values[i].push_back(made == nullptr ? Tensor() : *made);
    }
  }
  for (size_t i = 0; i < decomposition_.results.size(); ++i)
    context->set_output(static_cast<int>(i), value_of(decomposition_.results[i]));
  return absl::OkStatus();
}

}  // namespace hpu
