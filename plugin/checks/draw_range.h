// The rule for the range of random integers.
#ifndef HPU_PLUGIN_CHECKS_DRAW_RANGE_H_
#define HPU_PLUGIN_CHECKS_DRAW_RANGE_H_

#include "absl/status/status.h"
#include "tensorflow/core/framework/tensor.h"

namespace hpu::checks {

// Whether a result of this shape (a tensor of int32 or int64) has elements.
bool HasElements(const tensorflow::Tensor& shape);

// The error of the CPU kernel if the range [low, high) is empty. OK if `low` or `high` is not one number, which the op
// itself reports. Requires equal dtypes: int32, int64, uint32 or uint64. The
// CPU kernel accepts an empty range of unsigned numbers, for which compiled code has other numbers.
absl::Status CheckDrawRange(const tensorflow::Tensor& low, const tensorflow::Tensor& high);

}  // namespace hpu::checks

#endif  // HPU_PLUGIN_CHECKS_DRAW_RANGE_H_
