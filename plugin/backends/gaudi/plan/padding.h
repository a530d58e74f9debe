// Padding of arrays as nodes of a plan.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_PLAN_PADDING_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_PLAN_PADDING_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "plugin/backends/gaudi/plan/plan_builder.h"
#include "xla/literal.h"

namespace hpu::gaudi {

// Padding of each dimension, fastest first.
struct Padding {
  std::vector<int64_t> low, high;  // negative: crops
  std::vector<uint64_t> steps;     // interior padding + 1

  explicit Padding(size_t rank) : low(rank, 0), high(rank, 0), steps(rank, 1) {}
};

// x with copies of `value`, a scalar of the type of x, around and between its elements. The result has at least one
// element. Fails as PlanBuilder::AddNode does.
absl::StatusOr<TensorId> Pad(PlanBuilder& builder, TensorId x, const xla::Literal& value, const Padding& padding);
absl::StatusOr<TensorId> Pad(PlanBuilder& builder, TensorId x, TensorId value, const Padding& padding);
absl::StatusOr<TensorId> PadWithZeros(PlanBuilder& builder, TensorId x, const Padding& padding);

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_PLAN_PADDING_H_
