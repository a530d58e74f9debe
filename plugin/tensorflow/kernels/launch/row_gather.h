// RowGather: rows of a tensor on the HPU in an order that the host has found.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_LAUNCH_ROW_GATHER_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_LAUNCH_ROW_GATHER_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor.h"

namespace hpu {

// Part of a kernel, whose rows are of one type; uses the device's kernel of GatherV2, and so its recipes. Thread safe.
class RowGather {
 public:
  // An error goes to `construction`.
  RowGather(tensorflow::OpKernelConstruction* construction, tensorflow::DataType dtype);

  // Row order[i] of `rows` as row i. `order` is an int32 vector in host memory of indices in range.
  absl::StatusOr<tensorflow::Tensor> Run(tensorflow::OpKernelContext* context, const tensorflow::Tensor& rows,
                                         const tensorflow::Tensor& order) const;

  // Of rows that lie in device memory.
  static const tensorflow::DataTypeVector& Types();
  // InvalidArgument for more rows than an order can number.
  static absl::Status CheckRowCount(int64_t rows);

 private:
  std::unique_ptr<tensorflow::OpKernel> gather_;
};

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_LAUNCH_ROW_GATHER_H_
