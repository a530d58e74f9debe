// Select-and-scatter by shifted slices: for windows and selections that no pooling kernel computes.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_SELECT_AND_SCATTER_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_SELECT_AND_SCATTER_H_

#include "absl/status/statusor.h"
#include "plugin/backends/gaudi/lowerings/lowering.h"
#include "xla/hlo/ir/hlo_instruction.h"

namespace hpu::gaudi {

// Adds the gradient of each window to one element of the image. `select` of the select-and-scatter `instruction`
// chooses the element, by HLO's rules for NaN and equal elements. Elements that no window chooses are 0. `image` and
// `gradient` are the instruction's first operands. Adds about ten nodes for each element of a window. Unimplemented for
// windows of more than 512 elements; also fails as PlanBuilder::AddNode does.
absl::StatusOr<TensorId> ScatterToChosen(Lowering& lowering, const xla::HloInstruction& instruction, TensorId image,
                                         TensorId gradient);

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_SELECT_AND_SCATTER_H_
