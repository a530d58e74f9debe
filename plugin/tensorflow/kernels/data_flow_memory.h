// ElementMemory: moves elements of tensors where they lie, on the device or in host memory.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_DATA_FLOW_MEMORY_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_DATA_FLOW_MEMORY_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "plugin/tensorflow/device/process_device.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor.h"

namespace hpu {

// Whether tensors of this type lie in device memory at the border of an op on the HPU: int32 does not, nor does what
// cannot be copied byte by byte (strings, resource handles, variants).
bool LivesOnDevice(tensorflow::DataType dtype);

// Copies and clears for one kernel execution, for tensors of one type: numbers, bool, or variants. Nothing is copied
// through the host: work on device memory is queued on the compute stream, work on host memory done at once. Tensors of
// other memory than the type's own, as copies of whole lists between devices leave them, are copied across. Not thread
// safe.
class ElementMemory {
 public:
  static absl::StatusOr<ElementMemory> Create(tensorflow::OpKernelContext* context, tensorflow::DataType dtype);

  // A tensor without defined contents, in the memory where the type lives.
  absl::StatusOr<tensorflow::Tensor> Allocate(const tensorflow::TensorShape& shape) const;
  absl::StatusOr<tensorflow::Tensor> Zeros(const tensorflow::TensorShape& shape) const;

  // Copies `count` elements from element `from` of `source` to element `to` of `destination`, which must not share
  // memory with it.
  absl::Status Copy(const tensorflow::Tensor& source, int64_t from, tensorflow::Tensor* destination, int64_t to,
                    int64_t count) const;
  // Sets `count` elements to zero, or makes them empty variants.
  absl::Status Clear(tensorflow::Tensor* tensor, int64_t from, int64_t count) const;
  // `tensor` itself if it lies where the type lives, else a copy there.
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
