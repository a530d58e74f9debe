// The true shape of an array of dynamic shape, and the array as the first elements of its padded buffer.
#ifndef HPU_PLUGIN_COMPILER_DYNAMIC_SHAPES_TRUE_SHAPE_H_
#define HPU_PLUGIN_COMPILER_DYNAMIC_SHAPES_TRUE_SHAPE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "plugin/compiler/dynamic_shapes/size_symbols.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"

namespace hpu {

// Returns `bound` with each dynamic dimension replaced by its element of `sizes`. Internal if a size is negative or
// exceeds its bound.
absl::StatusOr<tensorflow::TensorShape> TrueShape(const tensorflow::TensorShape& bound, const SizeIndices& indices,
                                                  absl::Span<const int32_t> sizes);

// The first elements of a vector as an array of `shape`; shares the vector's memory. Internal if the vector has too few
// elements.
absl::StatusOr<tensorflow::Tensor> FirstElements(const tensorflow::Tensor& vector,
                                                 const tensorflow::TensorShape& shape);

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_DYNAMIC_SHAPES_TRUE_SHAPE_H_
