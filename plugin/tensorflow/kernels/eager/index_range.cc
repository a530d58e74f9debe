#include "plugin/tensorflow/kernels/eager/index_range.h"

#include <cstdint>
#include <optional>
#include <vector>

#include "plugin/tensorflow/kernels/cpu_fallback/run_cpu_fallback.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/types.h"
#include "tsl/platform/errors.h"
#include "tsl/platform/statusor.h"

namespace hpu {
namespace {

using tensorflow::Tensor;

// The shape that bounds the indices; nullopt if the sizes are not a valid shape.
absl::StatusOr<std::optional<tensorflow::TensorShape>> BoundingShape(ProcessDevice& device, const IndexedOp& op,
                                                                     const KernelArguments& arguments) {
  const Tensor& bound = arguments.value(op.bound);
  if (!op.sizes) return bound.shape();
  TF_ASSIGN_OR_RETURN(const Tensor sizes, HostCopyOf(device, bound));
  tensorflow::TensorShape shape;
  const int64_t rank = sizes.NumElements();
  const bool made = sizes.dtype() == tensorflow::DT_INT32
                        ? tensorflow::TensorShapeUtils::MakeShape(sizes.flat<int32_t>().data(), rank, &shape).ok()
                        : sizes.dtype() == tensorflow::DT_INT64 &&
                              tensorflow::TensorShapeUtils::MakeShape(sizes.flat<int64_t>().data(), rank, &shape).ok();
  if (!made) return std::nullopt;
  return shape;
}

// The dimension that bounds the indices; nullopt if the op's axis is invalid.
std::optional<int64_t> AxisOf(tensorflow::OpKernelContext* context, const IndexedOp& op, int64_t rank) {
  int64_t axis = op.kind == IndexedOp::Kind::kLabel ? rank - 1 : 0;
  const Tensor* value = nullptr;
  if (op.axis != nullptr && context->input(op.axis, &value).ok()) {
    if (value->NumElements() != 1) return std::nullopt;
    axis = value->dtype() == tensorflow::DT_INT32 ? value->flat<tensorflow::int32>()(0) : value->flat<int64_t>()(0);
  } else if (op.axis != nullptr) {
    if (!tensorflow::GetNodeAttr(context->op_kernel().def(), op.axis, &axis).ok()) return std::nullopt;
  }
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return std::nullopt;
  return axis;
}

// Exclusive upper bounds of an index: one, or one for each component if an index is a vector. Empty if the indices
// cannot index into `shape`.
std::vector<int64_t> Bounds(tensorflow::OpKernelContext* context, const IndexedOp& op, const KernelArguments& arguments,
                            const tensorflow::TensorShape& shape) {
  const tensorflow::TensorShape& indices = arguments.value(op.indices).shape();
  if (op.kind == IndexedOp::Kind::kVector) {
    const int64_t components = indices.dims() == 0 ? -1 : indices.dim_size(indices.dims() - 1);
    if (components < 0 || components > shape.dims()) return {};
    std::vector<int64_t> bounds;
    for (int64_t i = 0; i < components; ++i) bounds.push_back(shape.dim_size(static_cast<int>(i)));
    return bounds;
  }
  const std::optional<int64_t> axis = AxisOf(context, op, shape.dims());
  if (!axis.has_value()) return {};
  const int64_t size = shape.dim_size(static_cast<int>(*axis));
  return {op.kind == IndexedOp::Kind::kLength ? size + 1 : size};
}

template <typename T>
bool AllBelow(const Tensor& indices, const std::vector<int64_t>& bounds, IndexedOp::Kind kind) {
  const T* data = reinterpret_cast<const T*>(indices.data());
  const int64_t count = indices.NumElements();
  for (int64_t i = 0; i < count; ++i) {
    const int64_t bound = bounds.size() == 1 ? bounds[0] : bounds[i % bounds.size()];
    if ((data[i] < 0 && kind != IndexedOp::Kind::kSegment) || data[i] >= bound) return false;
  }
  if (kind != IndexedOp::Kind::kPermutation) return true;
  std::vector<bool> seen(bounds[0]);
  for (int64_t i = 0; i < count; ++i) {
    if (seen[data[i]]) return false;
    seen[data[i]] = true;
  }
  return true;
}

}  // namespace

absl::StatusOr<bool> IndicesInRange(tensorflow::OpKernelContext* context, ProcessDevice& device, const IndexedOp& op,
                                    const KernelArguments& arguments) {
  if (arguments.value(op.indices).NumElements() == 0) return true;
  TF_ASSIGN_OR_RETURN(const std::optional<tensorflow::TensorShape> shape, BoundingShape(device, op, arguments));
  if (!shape.has_value()) return false;
  const std::vector<int64_t> bounds = Bounds(context, op, arguments, *shape);
  if (bounds.empty()) return false;
  TF_ASSIGN_OR_RETURN(const Tensor indices, HostCopyOf(device, arguments.value(op.indices)));
  switch (indices.dtype()) {
    case tensorflow::DT_INT16:
      return AllBelow<int16_t>(indices, bounds, op.kind);
    case tensorflow::DT_INT32:
      return AllBelow<int32_t>(indices, bounds, op.kind);
    case tensorflow::DT_INT64:
      return AllBelow<int64_t>(indices, bounds, op.kind);
    default:
      return false;
  }
}

}  // namespace hpu
