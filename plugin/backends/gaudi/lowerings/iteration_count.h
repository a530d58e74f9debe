// Number of iterations of an HLO loop.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_ITERATION_COUNT_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_ITERATION_COUNT_H_

#include <cstdint>
#include <optional>

#include "xla/hlo/ir/hlo_instruction.h"

namespace hpu::gaudi {

// The number of iterations of a while. The condition may depend only on elements of the state that begin as constant
// values and are computed from each other alone: counters and limits. XLA's ComputeWhileLoopTripCount expects one
// counter and fails for TensorFlow's loops, which have two (loop_counter, and the program's own). Nullopt if the number
// is unknown, or is larger than `max_count`.
std::optional<int64_t> IterationCount(const xla::HloInstruction* loop, int64_t max_count);

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_ITERATION_COUNT_H_
