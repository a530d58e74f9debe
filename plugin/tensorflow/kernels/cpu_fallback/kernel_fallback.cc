#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/notification.h"
#include "plugin/passes/analysis/kernel_search.h"
#include "plugin/tensorflow/kernels/cpu_fallback/cpu_fallback.h"
#include "plugin/tensorflow/kernels/cpu_fallback/host_call.h"
#include "plugin/tensorflow/kernels/cpu_fallback/host_device.h"
#include "tsl/platform/statusor.h"

namespace hpu {
namespace {

class KernelFallback : public CpuFallback {
 public:
  KernelFallback(HostDevice* host, std::unique_ptr<tensorflow::OpKernel> kernel)
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

// Class of the CPU kernels of XLA's ops, which require a function library and compile the op for the CPU.
constexpr absl::string_view kCompilesForCpu = "XlaCompileOnDemandOp";

// Returns an empty string if there is no CPU kernel.
std::string CpuKernelName(const tensorflow::NodeDef& node) {
  std::string name;
  return passes::FindKernel("CPU", node, &name) != nullptr ? name : "";
}

}  // namespace

bool HasCpuKernel(const tensorflow::NodeDef& node) {
  const std::string name = CpuKernelName(node);
  return !name.empty() && name != kCompilesForCpu;
}

absl::StatusOr<std::unique_ptr<CpuFallback>> MakeKernelFallback(const tensorflow::NodeDef& node,
                                                                int graph_def_version) {
  if (CpuKernelName(node) == kCompilesForCpu) {
    return absl::NotFoundError(absl::StrCat("no CPU kernel for op ", node.op(),
                                            ": TensorFlow runs the op on the CPU only through XLA; use another op"));
  }
  TF_ASSIGN_OR_RETURN(HostDevice * host, HostDevice::Get());
  TF_ASSIGN_OR_RETURN(std::unique_ptr<tensorflow::OpKernel> kernel, MakeCpuKernel(node, graph_def_version));
  return std::unique_ptr<CpuFallback>(new KernelFallback(host, std::move(kernel)));
}

}  // namespace hpu
