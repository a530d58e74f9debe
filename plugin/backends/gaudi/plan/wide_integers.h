// 64-bit integers by kernels of i32, for generations and operations without 64-bit kernels.
//
// The bytes of i64 are two i32, the low one first. Elementwise and other functions of nodes.h call these functions for
// i64 where there is no kernel. So lowerings need no other path for 64-bit integers.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_PLAN_WIDE_INTEGERS_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_PLAN_WIDE_INTEGERS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "plugin/backends/gaudi/plan/integer_arithmetic.h"
#include "plugin/backends/gaudi/plan/plan_builder.h"

// Every function fails as PlanBuilder::AddNode does.
namespace hpu::gaudi {

// Whether to compute an i64 operation from halves: its kernel is missing, or all i64 operands that are not constants
// have halves. Converting halves to and from i64 would cost more.
bool NeedsHalves(const PlanBuilder& builder, absl::string_view stem, const std::vector<TensorId>& operands);

// Low and high bits of an i64 tensor.
absl::StatusOr<Halves> Split(PlanBuilder& builder, TensorId wide);
// Inverse of Split. Sizes of the halves may be 1.
absl::StatusOr<TensorId> Join(PlanBuilder& builder, const Halves& halves);
// A function of i32 arrays, such as a reversal, applied to both halves.
absl::StatusOr<TensorId> ForEachHalf(PlanBuilder& builder, TensorId wide,
                                     absl::FunctionRef<absl::StatusOr<TensorId>(TensorId)> function);

// Elementwise, ElementwiseWithParams (bitshift_fwd) and Compare for i64: results of the kernel `stem`. Unimplemented
// for kernels that do not compute integers.
absl::StatusOr<TensorId> WideElementwise(PlanBuilder& builder, absl::string_view stem,
                                         const std::vector<TensorId>& operands, const std::string& params);
absl::StatusOr<TensorId> WideCompare(PlanBuilder& builder, absl::string_view stem, TensorId a, TensorId b);

// Quotient and remainder of unsigned 64-bit integers. The divisor must not be 0.
struct WideQuotient {
  TensorId quotient = kNoTensor;
  TensorId remainder = kNoTensor;
};
absl::StatusOr<WideQuotient> DivideWide(PlanBuilder& builder, TensorId dividend, TensorId divisor);

// Conversions. i32 to i64: sign-extended, or zero-extended if `is_unsigned`.
absl::StatusOr<TensorId> WideFromWord(PlanBuilder& builder, TensorId word, bool is_unsigned);
// The low 32 bits. Each size is the tensor's size or 1.
absl::StatusOr<TensorId> LowWord(PlanBuilder& builder, TensorId wide);
// Nearest float32, ties to even.
absl::StatusOr<TensorId> WideToFloat(PlanBuilder& builder, TensorId wide, bool is_unsigned);
// The integral part of a float32 between -2^63 and 2^63 - 1, or between 0 and 2^64 - 1.
absl::StatusOr<TensorId> WideFromFloat(PlanBuilder& builder, TensorId x, bool is_unsigned);

// Casts from and to i64 by halves. Needed if x is a constant or has halves, or if the generation has no kernel that is
// correct for all numbers.
bool NeedsWideCast(const PlanBuilder& builder, TensorId x, synapse::synDataType type);
absl::StatusOr<TensorId> WideCast(PlanBuilder& builder, TensorId x, synapse::synDataType type);

// Moves the elements of an i64 tensor that has halves. `sizes`: of the result. `function` moves a half that has the
// tensor's sizes.
absl::StatusOr<TensorId> MoveHalves(PlanBuilder& builder, TensorId wide, const Sizes& sizes,
                                    absl::FunctionRef<absl::StatusOr<TensorId>(TensorId)> function);

// Sums over dimensions, modulo 2^64. Reduced dimensions keep size 1.
absl::StatusOr<TensorId> SumWide(PlanBuilder& builder, TensorId wide, const std::vector<bool>& is_reduced);

// Number of 1 bits, and number of leading 0 bits.
absl::StatusOr<TensorId> WideCountOnes(PlanBuilder& builder, TensorId wide);
absl::StatusOr<TensorId> WideCountLeadingZeros(PlanBuilder& builder, TensorId wide);

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_PLAN_WIDE_INTEGERS_H_
