// HostCall: one call of a CPU kernel on host tensors, on behalf of an HPU kernel.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_CPU_FALLBACK_HOST_CALL_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_CPU_FALLBACK_HOST_CALL_H_

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tensorflow/core/framework/cancellation.h"
#include "tensorflow/core/framework/device.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor.h"

namespace hpu {

// Creates the op's CPU kernel. NotFound if the op has no CPU kernel.
absl::StatusOr<std::unique_ptr<tensorflow::OpKernel>> MakeCpuKernel(const tensorflow::NodeDef& node,
                                                                    int graph_def_version);

// Used by one thread at a time. Must live until the kernel has called back.
class HostCall {
 public:
  // `outer` is the HPU kernel's context; the call belongs to the same step. `cancellation` cancels the call, and may be
  // null. `cancellation`, `kernel`, `cpu` and `runner` must outlive the HostCall.
  HostCall(tensorflow::OpKernelContext* outer, tensorflow::CancellationManager* cancellation,
           tensorflow::OpKernel* kernel, tensorflow::Device* cpu, std::function<void(std::function<void()>)>* runner,
           std::vector<tensorflow::Tensor> inputs);
  HostCall(const HostCall&) = delete;
  HostCall& operator=(const HostCall&) = delete;

  // The CPU kernel's context.
  tensorflow::OpKernelContext* context() { return &*context_; }
  // Returns the kernel's error or its outputs. Requires that the kernel has finished.
  absl::Status TakeOutputs(std::vector<tensorflow::Tensor>* outputs);

 private:
  std::vector<tensorflow::Tensor> inputs_;
  std::vector<tensorflow::TensorValue> values_;
  const std::vector<tensorflow::AllocatorAttributes> input_attributes_;
  std::vector<tensorflow::AllocatorAttributes> output_attributes_;
  tensorflow::OpKernelContext::Params params_;
  std::optional<tensorflow::OpKernelContext> context_;
};

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_CPU_FALLBACK_HOST_CALL_H_
