// ElementMemory: copies of tensor elements within device memory or host memory.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_DATA_FLOW_MEMORY_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_DATA_FLOW_MEMORY_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "plugin/tensorflow/device/process_device.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor.h"

namespace hpu {

// Whether inputs and outputs of this type lie in device memory at ops on the HPU. int32 does not, nor do types that
// cannot be copied byte by byte (strings, resource handles, variants).
bool LivesOnDevice(tensorflow::DataType dtype);

// Copies and clears tensors of one type (numbers, bool or variants) during one kernel execution. Nothing is copied
// through the host: work on device memory is queued on the compute stream, and work on host memory is done at once.
// Tensors may lie in the other memory than their type requires, because whole lists are copied between devices. Such
// tensors are copied across. Not thread safe.
class ElementMemory {
 public:
  static absl::StatusOr<ElementMemory> Create(tensorflow::OpKernelContext* context, tensorflow::DataType dtype);

  // A tensor with undefined contents, in the memory that its type requires.
  absl::StatusOr<tensorflow::Tensor> Allocate(const tensorflow::TensorShape& shape) const;
  absl::StatusOr<tensorflow::Tensor> Zeros(const tensorflow::TensorShape& shape) const;

  // Copies `count` elements from element `from` of `source` to element `to` of `destination`. The two must not share
  // memory.
  absl::Status Copy(const tensorflow::Tensor& source, int64_t from, tensorflow::Tensor* destination, int64_t to,
                    int64_t count) const;
  // Sets `count` elements to zero, or makes them empty variants.
  absl::Status Clear(tensorflow::Tensor* tensor, int64_t from, int64_t count) const;
  // `tensor` itself if it lies in the memory that its type requires, otherwise a copy there.
  absl::StatusOr<tensorflow::Tensor> InPlace(const tensorflow::Tensor& tensor) const;

 private:
  ElementMemory(tensorflow::OpKernelContext* context, ProcessDevice* device, tensorflow::DataType dtype)
      : context_(context), device_(device), dtype_(dtype) {}
  absl::Status CopyBytes(const char* source, char* destination, uint64_t bytes) const;
  bool OnDevice(const tensorflow::Tensor& tensor) const;

  tensorflow::OpKernelContext* context_;
  ProcessDevice* device_;
  tensorflow::DataType dtype_;
};

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_DATA_FLOW_MEMORY_H_
