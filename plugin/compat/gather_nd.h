// The HLO of GatherNd, which tf2xla builds in a function that its package does not declare.
#ifndef HPU_PLUGIN_COMPAT_GATHER_ND_H_
#define HPU_PLUGIN_COMPAT_GATHER_ND_H_

#include "absl/status/statusor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/types.h"
#include "xla/hlo/builder/xla_builder.h"

namespace hpu {

// A tensor in HLO, with its shape and type in TensorFlow.
struct TensorOp {
  xla::XlaOp value;
  tensorflow::TensorShape shape;
  tensorflow::DataType type;
};

// The elements or slices of `table` at `indices`, whose last dimension has a number for each indexed dimension.
absl::StatusOr<xla::XlaOp> GatherNd(const TensorOp& table, const TensorOp& indices);

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPAT_GATHER_ND_H_
