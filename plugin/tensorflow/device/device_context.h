// HpuDeviceContext: how TensorFlow copies tensors to, from and on the HPU.
#ifndef HPU_PLUGIN_TENSORFLOW_DEVICE_DEVICE_CONTEXT_H_
#define HPU_PLUGIN_TENSORFLOW_DEVICE_DEVICE_CONTEXT_H_

#include <functional>

#include "tensorflow/core/framework/device_base.h"

namespace hpu {

// Stateless: all its work goes to the ProcessDevice. Strings, variants and resources never come here, TensorFlow leaves
// them on the host. Every copy holds on to its tensors until it has ended. Thread safe.
class HpuDeviceContext : public tensorflow::DeviceContext {
 public:
  // `done` runs when the source may be reused; later work on the device sees the copy.
  void CopyCPUTensorToDevice(const tensorflow::Tensor* cpu_tensor, tensorflow::Device* device,
                             tensorflow::Tensor* device_tensor, tensorflow::StatusCallback done,
                             bool sync_dst_compute) const override;
  // `done` runs when the data are there, with the error of whatever should have made them.
  void CopyDeviceTensorToCPU(const tensorflow::Tensor* device_tensor, tensorflow::StringPiece tensor_name,
                             tensorflow::Device* device, tensorflow::Tensor* cpu_tensor,
                             tensorflow::StatusCallback done) override;
  void CopyTensorInSameDevice(const tensorflow::Tensor* input, tensorflow::Device* device, tensorflow::Tensor* output,
                              tensorflow::StatusCallback done) const override;

  // The device has no stream_executor stream (`stream` is null): waits for the compute work queued so far.
  tensorflow::Status ThenExecute(tensorflow::Device* device, stream_executor::Stream* stream,
                                 std::function<void()> function) override;

  tensorflow::Allocator* host_memory_allocator() const override;
};

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_DEVICE_DEVICE_CONTEXT_H_
