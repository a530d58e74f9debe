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

// Whether ops on the HPU have inputs and outputs of this type in device memory. False for int32 and for types that
// cannot be copied byte by byte (strings, resource handles, variants).
bool LivesOnDevice(tensorflow::DataType dtype);

// Copies and clears tensors of one type (numbers, bool or variants) during one kernel execution. Work on device memory
// is queued on the compute stream. Work on host memory runs immediately, on the caller's thread. A tensor may be in the
// wrong memory for its type, because TensorFlow copies whole lists between devices. Only such tensors are copied
// between host and device. Not thread safe.
class ElementMemory {
 public:
  static absl::StatusOr<ElementMemory> Create(tensorflow::OpKernelContext* context, tensorflow::DataType dtype);

  // A tensor with undefined contents, in the memory that its type requires.
  absl::StatusOr<tensorflow::Tensor> Allocate(const tensorflow::TensorShape& shape) const;
  absl::StatusOr<tensorflow::Tensor> Zeros(const tensorflow::TensorShape& shape) const;

  // Copies `count` elements from element `from` of `source` to element `to` of `destination`. The tensors must not
  // share memory.
  absl::Status Copy(const tensorflow::Tensor& source, int64_t from, tensorflow::Tensor* destination, int64_t to,
                    int64_t count) const;
  // Sets `count` elements from element `from` on to zero, or to empty variants.
  absl::Status Clear(tensorflow::Tensor* tensor, int64_t from, int64_t count) const;
  // Returns `tensor` if it is in the memory that its type requires, otherwise a copy in the required memory.
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
