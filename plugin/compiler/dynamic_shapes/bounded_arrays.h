// Arrays of dynamic shape as static arrays over their bounds, for lowerings that compute with the true sizes
// themselves.
#ifndef HPU_PLUGIN_COMPILER_DYNAMIC_SHAPES_BOUNDED_ARRAYS_H_
#define HPU_PLUGIN_COMPILER_DYNAMIC_SHAPES_BOUNDED_ARRAYS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/shape.h"

namespace hpu {

struct BoundedArray {
  xla::Shape shape;               // of the original array, with its dynamic dimensions
  xla::XlaOp array;               // static; elements past a size are any numbers
  std::vector<xla::XlaOp> sizes;  // of each dimension, int32 scalars; not valid for static dimensions

  // The size of dimension `d`; its constant for a static dimension.
  xla::XlaOp Size(int64_t d) const;
};

absl::StatusOr<BoundedArray> ToBounded(xla::XlaOp array);

// Replaces the elements past the size of dimension `d` of an array over the bounds.
xla::XlaOp ReplacePast(xla::XlaOp array, xla::XlaOp size, int64_t d, xla::XlaOp by);
// Replaces the elements past the size of all dynamic dimensions by `by`.
xla::XlaOp ReplacePast(const BoundedArray& bounded, xla::XlaOp by);

// Sets the sizes of dimensions whose entry is valid.
xla::XlaOp SetSizes(xla::XlaOp array, absl::Span<const xla::XlaOp> sizes);

// Custom call that states a condition on sizes, its operand. If sizes violate the condition, the CPU kernel fails. A
// bounded recipe refuses such sizes at launch; other programs ignore the condition.
inline constexpr char kLaunchCondition[] = "HpuLaunchCondition";

void RequireAtLaunch(xla::XlaOp predicate);

// Custom call that states a condition on sizes, its operand, which the compiler must prove. In a bounded recipe, a
// condition that holds for some sizes only becomes a condition of each launch.
inline constexpr char kRequired[] = "HpuRequired";

void RequireEqual(xla::XlaOp one, xla::XlaOp other);

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_DYNAMIC_SHAPES_BOUNDED_ARRAYS_H_
