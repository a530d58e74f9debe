// Slices of a dimension whose size, or whose begin and end, change from launch to launch.
#ifndef HPU_PLUGIN_COMPILER_LOWERINGS_DYNAMIC_SLICES_H_
#define HPU_PLUGIN_COMPILER_LOWERINGS_DYNAMIC_SLICES_H_

#include <cstdint>
#include <optional>

#include "plugin/compiler/dynamic_shapes/size_numbers.h"
#include "xla/hlo/builder/xla_builder.h"

namespace hpu {

// A slice of one dimension.
struct DimensionSlice {
  SizeNumber begin;   // of the first element, also for a negative stride; the length is 0 if it is out of range
  SizeNumber length;  // `length.high` is the bound of the result
  int64_t stride = 1;
};

// A slice by the rules of StridedSlice: negative indices count from the end. A missing index is the dimension's first
// or last element, by the sign of `stride`.
DimensionSlice StridedDimension(const std::optional<SizeNumber>& begin, const std::optional<SizeNumber>& end,
                                int64_t stride, const SizeNumber& size);
// A single element.
DimensionSlice ElementOfDimension(const SizeNumber& index, const SizeNumber& size);

// Slices dimension `d` of a static array. The result is static; it has `slice.length.high` elements, of which the first
// `slice.length` are valid.
xla::XlaOp SliceDimension(xla::XlaOp array, const DimensionSlice& slice, int64_t d);

// Gradient of SliceDimension: a static array whose dimension `d` has `bound` elements, with the first `slice.length`
// elements of `array` in their places, and zeros elsewhere.
xla::XlaOp PlaceDimension(xla::XlaOp array, const DimensionSlice& slice, int64_t d, int64_t bound);

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_LOWERINGS_DYNAMIC_SLICES_H_
