// Compact arrays: the elements of an array of dynamic shape, in row-major order, at the front of an array of the
// bounds.
#ifndef HPU_PLUGIN_COMPILER_DYNAMIC_SHAPES_COMPACT_ARRAYS_H_
#define HPU_PLUGIN_COMPILER_DYNAMIC_SHAPES_COMPACT_ARRAYS_H_

#include <cstdint>

#include "absl/types/span.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/shape.h"

namespace hpu {

// Whether a compact array differs from a padded one. False if only the outermost dimension longer than 1 is dynamic, or
// if the bounds have no elements.
bool IsCompacted(const xla::Shape& shape);

// Moves the elements of a padded array to the front. `padded` has the bounds of `shape` as its dimensions; `sizes` are
// the actual sizes, one int32 scalar for each dimension.
xla::XlaOp Compact(xla::XlaOp padded, const xla::Shape& shape, absl::Span<const xla::XlaOp> sizes);

// Inverse of Compact. Elements past a size are any elements of `compact`. Fails for more than 2^31 - 1 elements.
xla::XlaOp Expand(xla::XlaOp compact, const xla::Shape& shape, absl::Span<const xla::XlaOp> sizes);

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_DYNAMIC_SHAPES_COMPACT_ARRAYS_H_
