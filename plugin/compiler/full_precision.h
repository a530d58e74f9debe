// Full precision: products of float32 operands that a card must not round to TF32.
#ifndef HPU_PLUGIN_COMPILER_FULL_PRECISION_H_
#define HPU_PLUGIN_COMPILER_FULL_PRECISION_H_

#include "xla/service/hlo.pb.h"

namespace hpu {

// Products for which the program requests full precision.
struct FullPrecision {
  bool matrix_products = false;
  bool convolutions = false;

  // tf.config.experimental.enable_tensor_float_32_execution(False) and NVIDIA_TF32_OVERRIDE=0 request both,
  // TF_DISABLE_CUBLAS_TENSOR_OP_MATH and TF_DISABLE_CUDNN_TENSOR_OP_MATH one kind each.
  static FullPrecision FromSettings();
};

// Sets the precision HIGHEST on all products of `program` with a float32 operand. The precision is part of the program,
// and therefore of the recipe's key.
void RequestFullPrecision(const FullPrecision& request, xla::HloModuleProto* program);

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_FULL_PRECISION_H_
