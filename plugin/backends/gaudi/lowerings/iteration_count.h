// Number of iterations of an HLO loop.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_ITERATION_COUNT_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_ITERATION_COUNT_H_

#include <cstdint>
#include <optional>

#include "xla/hlo/ir/hlo_instruction.h"

namespace hpu::gaudi {

// The number of iterations of a while. The condition may depend only on counters and limits: elements of the state that
// begin as constants and that no other element changes. The loops of TensorFlow count twice (loop_counter, and the
// program's own counter), so XLA's ComputeWhileLoopTripCount, which expects one counter, does not find their number.
// Nullopt if the number is not known, or is larger than `max_count`.
std::optional<int64_t> IterationCount(const xla::HloInstruction* loop, int64_t max_count);

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_ITERATION_COUNT_H_
