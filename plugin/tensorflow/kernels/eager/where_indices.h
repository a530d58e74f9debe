// Where the flags of an array are true.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_EAGER_WHERE_INDICES_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_EAGER_WHERE_INDICES_H_

#include <cstdint>

#include "absl/types/span.h"

namespace hpu {

// The most dimensions of an array whose flags have coordinates here; the fewest are one.
inline constexpr int kMaxCoordinates = 8;

// How many of `count` flags are true, which is any byte but 0.
int64_t CountTrue(const void* flags, int64_t count);

// Writes the coordinates of the true ones among the flags from `begin` to before `end` of an array of these sizes, row
// by row, a number for each dimension. Gives where those of later flags go.
int64_t* WriteWhereIndices(const void* flags, absl::Span<const int64_t> sizes, int64_t begin, int64_t end,
                           int64_t* coordinates);

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_EAGER_WHERE_INDICES_H_
