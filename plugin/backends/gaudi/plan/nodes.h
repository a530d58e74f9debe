// Elementary operations as nodes of a plan, by the conventions of SynapseAI: sizes fastest first, ranks that kernels
// support, params of the library's release.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_PLAN_NODES_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_PLAN_NODES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "plugin/backends/gaudi/plan/plan_builder.h"

// Every function fails as PlanBuilder::AddNode does.
namespace hpu::gaudi {

// Maximum rank of kernels: the TPC index space has 5 dimensions.
inline constexpr size_t kMaxKernelRank = 5;

// Elementwise. The type of the last operand selects the suffix of the kernel `stem`. Operands have equal ranks; each
// size is 1 or the result's size. Ranks above 5 are collapsed.
absl::StatusOr<TensorId> Elementwise(PlanBuilder& builder, absl::string_view stem, std::vector<TensorId> operands);
absl::StatusOr<TensorId> ElementwiseWithParams(PlanBuilder& builder, absl::string_view stem,
                                               std::vector<TensorId> operands, std::string params);
// Elementwise with a mask (i8) as the result, such as equal_fwd.
absl::StatusOr<TensorId> Compare(PlanBuilder& builder, absl::string_view stem, TensorId a, TensorId b);
// Complement of a mask of zeros and ones.
absl::StatusOr<TensorId> Not(PlanBuilder& builder, TensorId mask);
absl::StatusOr<TensorId> Where(PlanBuilder& builder, TensorId mask, TensorId a, TensorId b);
// Flips the sign bit. Signed comparisons of the results then order unsigned integers.
absl::StatusOr<TensorId> FlipSign(PlanBuilder& builder, TensorId x);
// Shifts each element by a constant number of bits below the width: left, or arithmetically right.
absl::StatusOr<TensorId> ShiftBy(PlanBuilder& builder, TensorId x, int bits, bool left);

// A constant of one element with `rank` dimensions, for Elementwise. `value` is converted to the type, which may have
// 64 bits.
absl::StatusOr<TensorId> Scalar(PlanBuilder& builder, synapse::synDataType type, double value, size_t rank);
absl::StatusOr<TensorId> IntegerScalar(PlanBuilder& builder, synapse::synDataType type, int64_t value, size_t rank);
// A scalar with the tensor's type and rank.
absl::StatusOr<TensorId> ScalarLike(PlanBuilder& builder, TensorId tensor, double value);

// Conversion by the kernels' rules: floats to integers round to zero and must be in range; other conversions round to
// the nearest value, ties to even. Takes several nodes where the generation lacks a direct conversion.
absl::StatusOr<TensorId> Cast(PlanBuilder& builder, TensorId x, synapse::synDataType type);
// The same bytes as another type of the same size.
absl::StatusOr<TensorId> Reinterpret(PlanBuilder& builder, TensorId x, synapse::synDataType type);

// Data movement. Arrays with more dimensions than the release supports take several nodes.
absl::StatusOr<TensorId> Reshape(PlanBuilder& builder, TensorId x, const Sizes& sizes);
// Repeats dimensions of size 1.
absl::StatusOr<TensorId> Broadcast(PlanBuilder& builder, TensorId x, const Sizes& sizes);
// Dimension d of the result is dimension permutation[d] of x.
absl::StatusOr<TensorId> Transpose(PlanBuilder& builder, TensorId x, const std::vector<int64_t>& permutation);
// Like Transpose, but `permutation` is HLO's: its dimensions count from the slowest.
absl::StatusOr<TensorId> HloTranspose(PlanBuilder& builder, TensorId x, absl::Span<const int64_t> permutation);
// Elements [starts[d], ends[d]) of each dimension d, in steps of steps[d].
absl::StatusOr<TensorId> Slice(PlanBuilder& builder, TensorId x, const std::vector<uint64_t>& starts,
                               const std::vector<uint64_t>& ends, const std::vector<uint64_t>& steps);
// Replaces the slice of x at `starts` that has the sizes of `update`. x must not be a view.
absl::StatusOr<TensorId> SliceInsert(PlanBuilder& builder, TensorId x, TensorId update,
                                     const std::vector<uint64_t>& starts, const std::vector<uint64_t>& steps);
// x with the elements of a dimension in reverse order.
absl::StatusOr<TensorId> Reverse(PlanBuilder& builder, TensorId x, size_t dimension);
absl::StatusOr<TensorId> Concatenate(PlanBuilder& builder, std::vector<TensorId> parts, uint32_t axis);

// 0 to count - 1, as i32 {count}. Unimplemented above 2^31 - 1.
absl::StatusOr<TensorId> Range(PlanBuilder& builder, uint64_t count);
// An array of one value.
absl::StatusOr<TensorId> Splat(PlanBuilder& builder, TensorId scalar, const Sizes& sizes);

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_PLAN_NODES_H_
