// Kernels of check ops, on the CPU and on the HPU.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_EAGER_CHECK_KERNEL_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_EAGER_CHECK_KERNEL_H_

#include <functional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "plugin/tensorflow/device/process_device.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace hpu {

// Whether values are checked. Results of clusters are zeros on devices that compute nothing: the backend "null", and
// cards that are not present (HPU_PJRT_TARGET).
bool ChecksValues();

// Calls `use` with the kernel's inputs in host memory, once the work that computes them has ended, on this thread or on
// a thread of the plugin. Copies nothing if the host can access the device's memory.
void WithInputsOnHost(tensorflow::OpKernelContext* context, ProcessDevice& device,
                      std::function<void(absl::StatusOr<std::vector<tensorflow::Tensor>>)> use);

// For inputs in host memory. `Check` has Initialize(construction), and a const Run(inputs) that returns the error of
// the checked op. Stateless except for attributes; thread safe.
template <typename Check>
class HostCheckKernel final : public tensorflow::OpKernel {
 public:
  explicit HostCheckKernel(tensorflow::OpKernelConstruction* construction) : OpKernel(construction) {
    OP_REQUIRES_OK(construction, check_.Initialize(construction));
  }

  void Compute(tensorflow::OpKernelContext* context) override {
    if (!ChecksValues()) return;
    std::vector<tensorflow::Tensor> inputs;
    for (int i = 0; i < context->num_inputs(); ++i) inputs.push_back(context->input(i));
    OP_REQUIRES_OK(context, check_.Run(inputs));
  }

 private:
  Check check_;
};

// For results of clusters in device memory. TensorFlow would copy each of them for a kernel on the CPU.
template <typename Check>
class DeviceCheckKernel final : public tensorflow::AsyncOpKernel {
 public:
  explicit DeviceCheckKernel(tensorflow::OpKernelConstruction* construction) : AsyncOpKernel(construction) {
    OP_REQUIRES_OK(construction, check_.Initialize(construction));
  }

  void ComputeAsync(tensorflow::OpKernelContext* context, DoneCallback done) override {
    if (!ChecksValues()) return done();
    absl::StatusOr<ProcessDevice*> device = ProcessDevice::Get();
    OP_REQUIRES_OK_ASYNC(context, device.status(), done);
    WithInputsOnHost(context, **device, [this, context, done](absl::StatusOr<std::vector<tensorflow::Tensor>> inputs) {
      OP_REQUIRES_OK_ASYNC(context, inputs.status(), done);
      OP_REQUIRES_OK_ASYNC(context, check_.Run(*inputs), done);
      done();
    });
  }

 private:
  Check check_;
};

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_EAGER_CHECK_KERNEL_H_
