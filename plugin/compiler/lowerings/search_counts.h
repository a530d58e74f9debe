// Searches of sorted rows by counting.
#ifndef HPU_PLUGIN_COMPILER_LOWERINGS_SEARCH_COUNTS_H_
#define HPU_PLUGIN_COMPILER_LOWERINGS_SEARCH_COUNTS_H_

#include <cstdint>

#include "xla/hlo/builder/xla_builder.h"

namespace hpu {

// Counts, for each row and bound, the `size` elements of the row that are <= the bound. The instructions are those of
// tf.searchsorted, for which the emulator has a kernel.
// [rows, size], [rows, bounds] -> int32 [rows, bounds]
xla::XlaOp CountUpTo(xla::XlaOp elements, xla::XlaOp bounds, int64_t size, int64_t rows, int64_t bounds_of_row);

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_LOWERINGS_SEARCH_COUNTS_H_
