// Index vectors of gathers and scatters.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_INDEX_VECTORS_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_INDEX_VECTORS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "plugin/backends/gaudi/lowerings/lowering.h"
#include "xla/hlo/ir/hlo_instruction.h"

namespace hpu::gaudi {

// Entry `entry` of all index vectors, i32 {1, n}: ToIndex of the elements of `indices` at position `entry` of dimension
// `vector_dimension`. If `vector_dimension` is the rank of `indices`, vectors have one entry. Fails as
// PlanBuilder::AddNode does.
absl::StatusOr<TensorId> IndexEntry(Lowering& lowering, const xla::HloInstruction* indices, int64_t vector_dimension,
                                    int64_t entry);

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_INDEX_VECTORS_H_
