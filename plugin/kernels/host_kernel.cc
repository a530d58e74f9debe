#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "plugin/kernels/host_device.h"
#include "plugin/kernels/host_program.h"
#include "tensorflow/core/framework/op.h"
#include "tsl/platform/errors.h"
#include "tsl/platform/statusor.h"

namespace hpu {
namespace {

using tensorflow::Tensor;
using tensorflow::TensorValue;

class HostKernel : public HostProgram {
 public:
  HostKernel(HostDevice* host, std::unique_ptr<tensorflow::OpKernel> kernel)
      : host_(host), kernel_(std::move(kernel)), output_attributes_(kernel_->num_outputs()) {
    for (auto& attributes : output_attributes_) attributes.set_on_host(true);
  }

  absl::Status Run(tensorflow::OpKernelContext* outer, std::vector<Tensor> inputs,
                   std::vector<Tensor>* outputs) override {
    std::vector<TensorValue> values;
    values.reserve(inputs.size());
    for (Tensor& input : inputs) values.emplace_back(&input);
    const std::vector<tensorflow::AllocatorAttributes> input_attributes(inputs.size());
    tensorflow::OpKernelContext::Params params;
    params.step_id = outer->step_id();
    params.op_kernel = kernel_.get();
    params.device = host_->device();
    params.resource_manager = host_->device()->resource_manager();
    params.cancellation_manager = outer->cancellation_manager();
    params.inputs = values;
    params.input_alloc_attrs = input_attributes;
    params.output_attr_array = output_attributes_.data();
    params.runner = host_->runner();
    params.frame_iter = outer->frame_iter();
    tensorflow::OpKernelContext context(&params, kernel_->num_outputs());
    if (tensorflow::AsyncOpKernel* async = kernel_->AsAsync()) {
      absl::Notification done;
      async->ComputeAsync(&context, [&done] { done.Notify(); });
      done.WaitForNotification();
    } else {
      kernel_->Compute(&context);
    }
    TF_RETURN_IF_ERROR(context.status());
    for (int i = 0; i < kernel_->num_outputs(); ++i) {
      std::unique_ptr<Tensor> output(context.release_output(i).tensor);
      if (output == nullptr) return absl::InternalError(absl::StrCat(kernel_->name(), ": output ", i, " was not set"));
      outputs->push_back(std::move(*output));
    }
    return absl::OkStatus();
  }

 private:
  HostDevice* const host_;
  const std::unique_ptr<tensorflow::OpKernel> kernel_;
  std::vector<tensorflow::AllocatorAttributes> output_attributes_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<HostProgram>> MakeHostKernel(const tensorflow::NodeDef& node, int graph_def_version) {
  TF_ASSIGN_OR_RETURN(HostDevice * host, HostDevice::Get());
  std::shared_ptr<const tensorflow::NodeProperties> properties;
  TF_RETURN_IF_ERROR(
      tensorflow::NodeProperties::CreateFromNodeDef(node, tensorflow::OpRegistry::Global(), &properties));
  tensorflow::OpKernel* kernel = nullptr;
  TF_RETURN_IF_ERROR(tensorflow::CreateOpKernel(
      tensorflow::DeviceType("CPU"), host->device(), host->device()->GetAllocator({}), /*flib=*/nullptr,
      host->device()->resource_manager(), properties, graph_def_version, &kernel));
  return std::unique_ptr<HostProgram>(new HostKernel(host, std::unique_ptr<tensorflow::OpKernel>(kernel)));
}

}  // namespace hpu
