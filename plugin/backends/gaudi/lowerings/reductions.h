// Reductions of dimensions by kernels.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_REDUCTIONS_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_REDUCTIONS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "plugin/backends/gaudi/plan/plan_builder.h"

namespace hpu::gaudi {

// Reduces the dimensions of `is_reduced` to size 1 by a kernel such as reduce_sum_multi_dim_fwd. Fails as
// PlanBuilder::AddNode does.
absl::StatusOr<TensorId> ReduceDimensions(PlanBuilder& builder, absl::string_view stem, TensorId x,
                                          const std::vector<bool>& is_reduced);

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_REDUCTIONS_H_
