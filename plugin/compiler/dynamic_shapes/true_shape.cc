#include "plugin/compiler/dynamic_shapes/true_shape.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "plugin/base/version/contact.h"

namespace hpu {

using tensorflow::Tensor;
using tensorflow::TensorShape;

absl::StatusOr<TensorShape> TrueShape(const TensorShape& bound, const SizeIndices& indices,
                                      absl::Span<const int32_t> sizes) {
  TensorShape shape = bound;
  for (int d = 0; d < shape.dims(); ++d) {
    if (indices[d] < 0) continue;
    const int32_t size = sizes[indices[d]];
    if (size < 0 || size > bound.dim_size(d)) {
      return absl::InternalError(absl::StrCat("dimension ", d, " of a result with bound ", bound.DebugString(),
                                              " has size ", size, ", expected 0 to ", bound.dim_size(d),
                                              "; " HPU_REPORT_BUG));
    }
    shape.set_dim(d, size);
  }
  return shape;
}

absl::StatusOr<Tensor> FirstElements(const Tensor& vector, const TensorShape& shape) {
  Tensor first;
  if (shape.num_elements() > vector.NumElements() || !first.CopyFrom(vector.Slice(0, shape.num_elements()), shape)) {
    return absl::InternalError(absl::StrCat("a result of shape ", shape.DebugString(), " does not fit its buffer of ",
                                            vector.NumElements(), " elements; " HPU_REPORT_BUG));
  }
  return first;
}

}  // namespace hpu
