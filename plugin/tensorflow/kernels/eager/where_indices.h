// Coordinates of the true elements of an array (tf.where).
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_EAGER_WHERE_INDICES_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_EAGER_WHERE_INDICES_H_

#include <cstdint>

#include "absl/types/span.h"

namespace hpu {

// Supported rank of the input: 1 to kMaxRank.
inline constexpr int kMaxRank = 8;

// Counts the true flags among `count` flags. Any byte other than 0 is true.
int64_t CountTrue(const void* flags, int64_t count);

// Writes the coordinates of the true flags in [begin, end) of an array with these sizes. Each true flag adds one row,
// with one coordinate for each dimension. Returns the position after the last row.
int64_t* WriteWhereIndices(const void* flags, absl::Span<const int64_t> sizes, int64_t begin, int64_t end,
                           int64_t* coordinates);

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_EAGER_WHERE_INDICES_H_
