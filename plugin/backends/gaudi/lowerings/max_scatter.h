// Gradients of maxima of windows by shifted slices: for windows that no pooling kernel computes.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_MAX_SCATTER_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_MAX_SCATTER_H_

#include "absl/status/statusor.h"
#include "plugin/backends/common/hlo/pooling.h"
#include "plugin/backends/gaudi/plan/plan_builder.h"

namespace hpu::gaudi {

// The result of a select-and-scatter that `scatter` describes, with HLO's choice of NaN and of equal elements. Adds
// about ten nodes for each element of a window. Unimplemented for windows of many elements; also fails as
// PlanBuilder::AddNode does.
absl::StatusOr<TensorId> ScatterToMaxima(PlanBuilder& builder, const hlo::MaxScatter& scatter, TensorId image,
                                         TensorId gradient);

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_MAX_SCATTER_H_
