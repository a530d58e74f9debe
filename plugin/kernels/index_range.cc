#include "plugin/kernels/index_range.h"

#include <cstdint>
#include <optional>
#include <vector>

#include "plugin/kernels/host_run.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/types.h"
#include "tsl/platform/errors.h"
#include "tsl/platform/statusor.h"

namespace hpu {
namespace {

using tensorflow::Tensor;

// The shape that bounds the indices; nothing if it is none.
absl::StatusOr<std::optional<tensorflow::TensorShape>> BoundingShape(ProcessDevice& device, const passes::IndexedOp& op,
                                                                     const KernelArguments& arguments) {
  const Tensor& bound = arguments.value(op.bound);
  if (!op.sizes) return bound.shape();
  TF_ASSIGN_OR_RETURN(const Tensor sizes, HostCopyOf(device, bound));
  tensorflow::TensorShape shape;
  if (sizes.dtype() != tensorflow::DT_INT32 || sizes.dims() != 1 ||
      !tensorflow::TensorShapeUtils::MakeShape(sizes.vec<int32_t>().data(), sizes.NumElements(), &shape).ok()) {
    return std::nullopt;
  }
  return shape;
}

// The sizes that bound an index: one, or one for each component where an index is a vector. Empty if there are none.
std::vector<int64_t> Bounds(tensorflow::OpKernelContext* context, const passes::IndexedOp& op,
                            const KernelArguments& arguments, const tensorflow::TensorShape& shape) {
  const tensorflow::TensorShape& indices = arguments.value(op.indices).shape();
  if (op.last_dim) {
    const int64_t components = indices.dims() == 0 ? -1 : indices.dim_size(indices.dims() - 1);
    if (components < 0 || components > shape.dims()) return {};
    std::vector<int64_t> bounds;
    for (int64_t i = 0; i < components; ++i) bounds.push_back(shape.dim_size(static_cast<int>(i)));
    return bounds;
  }
  if (shape.dims() == 0) return {};
  int64_t axis = op.labels ? shape.dims() - 1 : 0;
  if (op.axis_attr_input != nullptr) {
    const Tensor* value = nullptr;
    if (!context->input(op.axis_attr_input, &value).ok() || value->NumElements() != 1) return {};
    axis = value->dtype() == tensorflow::DT_INT32 ? value->flat<tensorflow::int32>()(0) : value->flat<int64_t>()(0);
    if (axis < 0) axis += shape.dims();
    if (axis < 0 || axis >= shape.dims()) return {};
  }
  return {shape.dim_size(static_cast<int>(axis))};
}

template <typename T>
bool AllBelow(const Tensor& indices, const std::vector<int64_t>& bounds) {
  const T* data = reinterpret_cast<const T*>(indices.tensor_data().data());
  const int64_t count = indices.NumElements();
  for (int64_t i = 0; i < count; ++i) {
    const int64_t bound = bounds.size() == 1 ? bounds[0] : bounds[i % bounds.size()];
    if (data[i] < 0 || data[i] >= bound) return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<bool> IndicesInRange(tensorflow::OpKernelContext* context, ProcessDevice& device,
                                    const passes::IndexedOp& op, const KernelArguments& arguments) {
  if (arguments.value(op.indices).NumElements() == 0) return true;
  TF_ASSIGN_OR_RETURN(const std::optional<tensorflow::TensorShape> shape, BoundingShape(device, op, arguments));
  if (!shape.has_value()) return false;
  const std::vector<int64_t> bounds = Bounds(context, op, arguments, *shape);
  if (bounds.empty()) return false;
  TF_ASSIGN_OR_RETURN(const Tensor indices, HostCopyOf(device, arguments.value(op.indices)));
  switch (indices.dtype()) {
    case tensorflow::DT_INT16:
      return AllBelow<int16_t>(indices, bounds);
    case tensorflow::DT_INT32:
      return AllBelow<int32_t>(indices, bounds);
    case tensorflow::DT_INT64:
      return AllBelow<int64_t>(indices, bounds);
    default:
      return false;
  }
}

}  // namespace hpu
