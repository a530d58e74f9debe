// RemoteCall on the HPU: TensorFlow's kernel, with int32 results moved to host memory if the executor expects host
// memory.
#include <utility>

#include "plugin/tensorflow/device/hpu_device.h"
#include "plugin/tensorflow/device/process_device.h"
#include "plugin/tensorflow/kernels/cpu_fallback/run_cpu_fallback.h"
#include "tensorflow/core/kernels/function_ops.h"

namespace hpu {
namespace {

using tensorflow::OpKernelContext;

// Results of a function on another device arrive in HPU memory, even if the node declares host memory for them
// (function_values_pass.h). A function on the HPU itself returns int32 in host memory.
class RemoteCall : public tensorflow::RemoteCallOp {
 public:
  using RemoteCallOp::RemoteCallOp;

  void ComputeAsync(OpKernelContext* context, DoneCallback done) override {
    RemoteCallOp::ComputeAsync(context, [this, context, done = std::move(done)] {
      if (context->status().ok()) context->SetStatus(MoveResultsToHost(context));
      done();
    });
  }

 private:
  absl::Status MoveResultsToHost(OpKernelContext* context) const {
    ProcessDevice* const device = ProcessDevice::GetIfAcquired();
    for (int i = 0; i < num_outputs() && device != nullptr; ++i) {
      tensorflow::Tensor* const result = context->mutable_output(i);
      if (result == nullptr || output_memory_types()[i] != tensorflow::HOST_MEMORY) continue;
      absl::StatusOr<tensorflow::Tensor> copy = HostCopyOf(*device, *result);
      if (!copy.ok()) return copy.status();
      *result = *std::move(copy);
    }
    return absl::OkStatus();
  }
};

REGISTER_KERNEL_BUILDER(Name("RemoteCall").Device(kDeviceType).HostMemory("target"), RemoteCall);

}  // namespace
}  // namespace hpu
