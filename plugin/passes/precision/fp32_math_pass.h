// HPU_FP32_MATH=bfloat16: float32 matrix products and convolutions with operands rounded to bfloat16.
#ifndef HPU_PLUGIN_PASSES_PRECISION_FP32_MATH_PASS_H_
#define HPU_PLUGIN_PASSES_PRECISION_FP32_MATH_PASS_H_

#include "absl/status/status.h"
#include "plugin/passes/reporting/pass_context.h"

namespace hpu::passes {

// Rounds the operands of float32 matrix products and convolutions on the HPU to bfloat16, each tensor once. The
// operands remain float32 tensors, so accumulation and results are float32. A product of two bfloat16 numbers is exact
// in float32, so bfloat16 operands with float32 accumulation would have the same result.
absl::Status RoundOperandsOfProducts(PassContext* context);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_PRECISION_FP32_MATH_PASS_H_
