#include "plugin/tensorflow/kernels/cpu_fallback/host_call.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"
#include "plugin/tensorflow/kernels/cpu_fallback/host_device.h"
#include "tensorflow/core/framework/op.h"

namespace hpu {

using tensorflow::Tensor;

absl::StatusOr<std::unique_ptr<tensorflow::OpKernel>> MakeCpuKernel(const tensorflow::NodeDef& node,
                                                                    int graph_def_version) {
  HPU_ASSIGN_OR_RETURN(HostDevice * host, HostDevice::Get());
  std::shared_ptr<const tensorflow::NodeProperties> properties;
  HPU_RETURN_IF_ERROR(
      tensorflow::NodeProperties::CreateFromNodeDef(node, tensorflow::OpRegistry::Global(), &properties));
  tensorflow::OpKernel* kernel = nullptr;
  HPU_RETURN_IF_ERROR(tensorflow::CreateOpKernel(
      tensorflow::DeviceType("CPU"), host->device(), host->device()->GetAllocator({}), /*flib=*/nullptr,
      host->device()->resource_manager(), properties, graph_def_version, &kernel));
  return std::unique_ptr<tensorflow::OpKernel>(kernel);
}

HostCall::HostCall(tensorflow::OpKernelContext* outer, tensorflow::CancellationManager* cancellation,
                   tensorflow::OpKernel* kernel, tensorflow::Device* cpu,
                   std::function<void(std::function<void()>)>* runner, std::vector<Tensor> inputs)
    : inputs_(std::move(inputs)), input_attributes_(inputs_.size()), output_attributes_(kernel->num_outputs()) {
  values_.reserve(inputs_.size());
  for (Tensor& input : inputs_) values_.emplace_back(&input);
  for (auto& attributes : output_attributes_) attributes.set_on_host(true);
  params_.step_id = outer->step_id();
  params_.op_kernel = kernel;
  params_.device = cpu;
  params_.resource_manager = cpu->resource_manager();
  params_.cancellation_manager = cancellation;
  params_.collective_executor = outer->collective_executor();
  params_.inputs = values_;
  params_.input_alloc_attrs = input_attributes_;
  params_.output_attr_array = output_attributes_.data();
  params_.runner = runner;
  params_.frame_iter = outer->frame_iter();
  context_.emplace(&params_, kernel->num_outputs());
}

absl::Status HostCall::TakeOutputs(std::vector<Tensor>* outputs) {
  HPU_RETURN_IF_ERROR(context_->status());
  for (int i = 0; i < context_->num_outputs(); ++i) {
    std::unique_ptr<Tensor> output(context_->release_output(i).tensor);
    if (output == nullptr) {
      return absl::InternalError(absl::StrCat(params_.op_kernel->name(), ": the CPU kernel did not set output ", i,
                                              "; fix the op's CPU kernel"));
    }
    outputs->push_back(std::move(*output));
  }
  return absl::OkStatus();
}

}  // namespace hpu
