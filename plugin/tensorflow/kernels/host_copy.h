// Copies of device tensors in new host memory.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_HOST_COPY_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_HOST_COPY_H_

#include <functional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "plugin/tensorflow/device/process_device.h"
#include "tensorflow/core/framework/tensor.h"

namespace hpu {

// Queues a copy of `source` to new host memory. Sets `destination` first, then calls `arrived` when the copy has ended,
// on this thread or on a thread of the plugin. Does not call `arrived` if an error is returned. Errors name `op`.
absl::Status CopyToNewHostTensor(absl::string_view op, ProcessDevice& device, const tensorflow::Tensor& source,
                                 tensorflow::Tensor* destination, std::function<void(absl::Status)> arrived);

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_HOST_COPY_H_
