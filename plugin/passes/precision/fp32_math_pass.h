// HPU_FP32_MATH=bfloat16: products of float32 tensors with bfloat16 operands, for which the card has arithmetic.
#ifndef HPU_PLUGIN_PASSES_PRECISION_FP32_MATH_PASS_H_
#define HPU_PLUGIN_PASSES_PRECISION_FP32_MATH_PASS_H_

#include "absl/status/status.h"
#include "plugin/passes/reporting/pass_context.h"

namespace hpu::passes {

// Rounds the operands of float32 matrix products and convolutions on the HPU to bfloat16, each tensor once. They remain
// float32 tensors, so accumulation and results are float32. The product of two bfloat16 numbers is exact in float32. So
// the result is the same as with bfloat16 operands and float32 accumulation.
absl::Status RoundOperandsOfProducts(PassContext* context);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_PRECISION_FP32_MATH_PASS_H_
