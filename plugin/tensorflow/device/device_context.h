// HpuDeviceContext: copies of tensors to, from and on the HPU.
#ifndef HPU_PLUGIN_TENSORFLOW_DEVICE_DEVICE_CONTEXT_H_
#define HPU_PLUGIN_TENSORFLOW_DEVICE_DEVICE_CONTEXT_H_

#include <functional>

#include "tensorflow/core/framework/device_base.h"

namespace hpu {

// Stateless: the ProcessDevice does all the work. Copies of strings, variants and resources fail, because these types
// stay on the host. A copy between host and device holds both tensors until `done` is called. Thread safe.
class HpuDeviceContext : public tensorflow::DeviceContext {
 public:
  // `done` runs when the source may be reused. Later work on the device reads the copied data.
  void CopyCPUTensorToDevice(const tensorflow::Tensor* cpu_tensor, tensorflow::Device* device,
                             tensorflow::Tensor* device_tensor, tensorflow::StatusCallback done,
                             bool sync_dst_compute) const override;
  // `done` runs when the data are in host memory. If the work that computes the data failed, the status is its error.
  void CopyDeviceTensorToCPU(const tensorflow::Tensor* device_tensor, absl::string_view tensor_name,
                             tensorflow::Device* device, tensorflow::Tensor* cpu_tensor,
                             tensorflow::StatusCallback done) override;
  void CopyTensorInSameDevice(const tensorflow::Tensor* input, tensorflow::Device* device, tensorflow::Tensor* output,
                              tensorflow::StatusCallback done) const override;

  // Calls `function` once the compute work queued so far has ended, even with an error. The device has no
  // stream_executor stream, so `stream` is null.
  tensorflow::Status ThenExecute(tensorflow::Device* device, stream_executor::Stream* stream,
                                 std::function<void()> function) override;

  tensorflow::Allocator* host_memory_allocator() const override;
};

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_DEVICE_DEVICE_CONTEXT_H_
