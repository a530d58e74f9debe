// Copies of tensors between memories of one device, by TensorFlow's copy functions.
#ifndef HPU_PLUGIN_COMPAT_DEVICE_COPIES_H_
#define HPU_PLUGIN_COMPAT_DEVICE_COPIES_H_

#include "absl/status/status.h"
#include "tensorflow/core/framework/allocator.h"
#include "tensorflow/core/framework/device.h"
#include "tensorflow/core/framework/device_base.h"
#include "tensorflow/core/framework/tensor.h"

namespace hpu {

// Makes TensorFlow call DeviceContext::CopyTensorInSameDevice for copies between memories of a device of this type.
// Requires that a process has at most one device of this type. Call once, while static objects are initialized.
void RegisterCopiesInSameDevice(const char* device_type);

// Copies a tensor from memory with attributes `from` to memory with attributes `to`. A variant stays in host memory;
// the tensors in the variant are copied. Waits for the copy.
absl::Status CopyBetweenMemories(tensorflow::Device* device, tensorflow::DeviceContext* context,
                                 tensorflow::AllocatorAttributes from, tensorflow::AllocatorAttributes to,
                                 const tensorflow::Tensor& input, tensorflow::Tensor* output);

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPAT_DEVICE_COPIES_H_
