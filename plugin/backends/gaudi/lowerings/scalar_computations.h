// Computations of scalars, such as combiners and comparators, applied to whole arrays.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_SCALAR_COMPUTATIONS_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_SCALAR_COMPUTATIONS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "plugin/backends/gaudi/lowerings/lowering.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"

namespace hpu::gaudi {

// Applies `computation` of `caller` to each element of `arguments`, which have sizes {n}. Results have sizes {n}.
// Unimplemented for instructions that are not elementwise.
absl::StatusOr<std::vector<TensorId>> ApplyToElements(Lowering& lowering, const xla::HloInstruction& caller,
                                                      const xla::HloComputation& computation,
                                                      const std::vector<TensorId>& arguments);
// The same for the only computation of the caller.
absl::StatusOr<std::vector<TensorId>> ApplyToElements(Lowering& lowering, const xla::HloInstruction& caller,
                                                      const std::vector<TensorId>& arguments);

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_SCALAR_COMPUTATIONS_H_
