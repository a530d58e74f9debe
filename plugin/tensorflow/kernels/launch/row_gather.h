// RowGather: a gather of a tensor's rows on the HPU, in an order computed on the host.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_LAUNCH_ROW_GATHER_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_LAUNCH_ROW_GATHER_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor.h"

namespace hpu {

// Used by kernels whose rows have one type. Runs the HPU kernel of GatherV2, and thus shares the recipes of GatherV2.
// Thread safe.
class RowGather {
 public:
  // Reports errors to `construction`.
  RowGather(tensorflow::OpKernelConstruction* construction, tensorflow::DataType dtype);

  // Returns a tensor whose row i is row order[i] of `rows`. `order` is an int32 vector in host memory; all indices are
  // in range.
  absl::StatusOr<tensorflow::Tensor> Run(tensorflow::OpKernelContext* context, const tensorflow::Tensor& rows,
                                         const tensorflow::Tensor& order) const;

  // Supported types of rows in device memory.
  static const tensorflow::DataTypeVector& Types();
  // InvalidArgument if there are too many rows for int32 indices. The error names `op`.
  static absl::Status CheckRowCount(absl::string_view op, int64_t rows);

 private:
  std::unique_ptr<tensorflow::OpKernel> gather_;
};

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_LAUNCH_ROW_GATHER_H_
