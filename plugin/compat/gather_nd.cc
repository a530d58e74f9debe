#include "plugin/compat/gather_nd.h"

#include "plugin/base/status_macros.h"
#include "tensorflow/compiler/tf2xla/kernels/gather_op_helpers.h"

namespace hpu {

absl::StatusOr<xla::XlaOp> GatherNd(const TensorOp& table, const TensorOp& indices) {
  xla::XlaOp result;
  HPU_RETURN_IF_ERROR(tensorflow::XlaGather(table.value, table.shape, indices.value, indices.shape, /*axis=*/0,
                                            /*indices_are_nd=*/true, table.type, indices.type, table.value.builder(),
                                            &result));
  return result;
}

}  // namespace hpu
