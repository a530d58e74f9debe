// Pooling kernels as nodes of a plan.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_POOLING_NODES_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_POOLING_NODES_H_

#include "absl/status/statusor.h"
#include "plugin/backends/common/hlo/pooling.h"
#include "plugin/backends/gaudi/plan/plan_builder.h"

// Images and windows have the dimension order of the HLO that `pooling` describes. Elements are floats. Every function
// fails as PlanBuilder::AddNode does.
namespace hpu::gaudi {

// Whether kernels compute the windows for images of a type: floats, one or two spatial dimensions, windows of at most
// 256 elements, and at least one element of the image in each window. Cropping is possible only after the last window,
// by less than the stride.
bool HasPoolingKernels(const hlo::Pooling& pooling, synapse::synDataType type);

// Maximum of each window. Whether NaN wins is not known.
absl::StatusOr<TensorId> MaxPoolNode(PlanBuilder& builder, const hlo::Pooling& pooling, TensorId image);
// Adds the gradient of each window to the maximum of the window. Of equal maxima, the kernel chooses the first in
// row-major order if it behaves like the test double. With MaxSelection::kNotLess, the choice in windows with NaN is
// HLO's, except in overlapping windows that begin with NaN. With kGreaterEqual, it is not known.
absl::StatusOr<TensorId> MaxPoolGradientNodes(PlanBuilder& builder, const hlo::MaxPoolingGradient& scatter,
                                              TensorId image, TensorId gradient);
// Sum of each window, computed in float32.
absl::StatusOr<TensorId> SumPoolNodes(PlanBuilder& builder, const hlo::Pooling& pooling, TensorId image);
// For each element of the image, the sum of the gradients of its windows, computed in float32.
absl::StatusOr<TensorId> SumPoolGradientNodes(PlanBuilder& builder, const hlo::Pooling& pooling, TensorId gradient);

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_POOLING_NODES_H_
