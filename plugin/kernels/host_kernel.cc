#include <utility>

#include "absl/synchronization/notification.h"
#include "plugin/kernels/host_call.h"
#include "plugin/kernels/host_device.h"
#include "plugin/kernels/host_program.h"
#include "tsl/platform/statusor.h"

namespace hpu {
namespace {

class HostKernel : public HostProgram {
 public:
  HostKernel(HostDevice* host, std::unique_ptr<tensorflow::OpKernel> kernel)
      : host_(host), kernel_(std::move(kernel)) {}

  absl::Status Run(tensorflow::OpKernelContext* outer, std::vector<tensorflow::Tensor> inputs,
                   std::vector<tensorflow::Tensor>* outputs) override {
    HostCall call(outer, outer->cancellation_manager(), kernel_.get(), host_->device(), host_->runner(),
                  std::move(inputs));
    if (tensorflow::AsyncOpKernel* async = kernel_->AsAsync()) {
      absl::Notification done;
      async->ComputeAsync(call.context(), [&done] { done.Notify(); });
      done.WaitForNotification();
    } else {
      kernel_->Compute(call.context());
    }
    return call.TakeOutputs(outputs);
  }

 private:
  HostDevice* const host_;
  const std::unique_ptr<tensorflow::OpKernel> kernel_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<HostProgram>> MakeHostKernel(const tensorflow::NodeDef& node, int graph_def_version) {
  TF_ASSIGN_OR_RETURN(HostDevice * host, HostDevice::Get());
  TF_ASSIGN_OR_RETURN(std::unique_ptr<tensorflow::OpKernel> kernel, MakeCpuKernel(node, graph_def_version));
  return std::unique_ptr<HostProgram>(new HostKernel(host, std::move(kernel)));
}

}  // namespace hpu
