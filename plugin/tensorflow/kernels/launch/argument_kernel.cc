// _Arg of int32 on the HPU: TensorFlow's kernel, with its result always in host memory.
#include "plugin/tensorflow/device/hpu_device.h"
#include "plugin/tensorflow/device/process_device.h"
#include "plugin/tensorflow/kernels/cpu_fallback/run_cpu_fallback.h"
#include "tensorflow/core/kernels/function_ops.h"

namespace hpu {
namespace {

// TensorFlow assumes that a function's int32 argument is in host memory. However, the kernels that pass lists of
// tensors to functions (If, Case, For, RemoteCall) may pass int32 in device memory.
class HostArgument : public tensorflow::ArgOp {
 public:
  using ArgOp::ArgOp;

  void Compute(tensorflow::OpKernelContext* context) override {
    ArgOp::Compute(context);
    ProcessDevice* const device = ProcessDevice::GetIfAcquired();
    if (!context->status().ok() || device == nullptr) return;
    tensorflow::Tensor* const argument = context->mutable_output(0);
    absl::StatusOr<tensorflow::Tensor> copy = HostCopyOf(*device, *argument);
    OP_REQUIRES_OK(context, copy.status());
    *argument = *std::move(copy);
  }
};

REGISTER_KERNEL_BUILDER(Name("_Arg").Device(kDeviceType).HostMemory("output").TypeConstraint<int32_t>("T"),
                        HostArgument);

}  // namespace
}  // namespace hpu
