#include "plugin/tensorflow/kernels/eager/index_range.h"

#include <cstdint>
#include <optional>

#include "plugin/base/status_macros.h"
#include "plugin/checks/index_rule.h"
#include "plugin/tensorflow/kernels/cpu_fallback/run_cpu_fallback.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/tensor.h"

namespace hpu {
namespace {

using tensorflow::Tensor;

// The sizes that checks::CheckIndices takes; nullopt if they are not a valid shape.
absl::StatusOr<std::optional<tensorflow::TensorShape>> SizesOf(ProcessDevice& device, const IndexedOp& op,
                                                               const KernelArguments& arguments) {
  const Tensor& bound = arguments.value(op.bound);
  if (!op.sizes) return bound.shape();
  HPU_ASSIGN_OR_RETURN(const Tensor sizes, HostCopyOf(device, bound));
  tensorflow::TensorShape shape;
  const int64_t rank = sizes.NumElements();
  const bool made = sizes.dtype() == tensorflow::DT_INT32
                        ? tensorflow::TensorShapeUtils::MakeShape(sizes.flat<int32_t>().data(), rank, &shape).ok()
                        : sizes.dtype() == tensorflow::DT_INT64 &&
                              tensorflow::TensorShapeUtils::MakeShape(sizes.flat<int64_t>().data(), rank, &shape).ok();
  if (!made) return std::nullopt;
  if (op.kind == checks::IndexKind::kSegment) {
    const tensorflow::TensorShape& data = arguments.value(0).shape();
    for (int i = arguments.value(op.indices).dims(); i < data.dims(); ++i) shape.AddDim(data.dim_size(i));
  }
  return shape;
}

std::optional<checks::IndexRule> RuleOfKernel(tensorflow::OpKernelContext* context, const IndexedOp& op) {
  const tensorflow::AttrSlice attributes(context->op_kernel().def());
  const Tensor* axis = nullptr;
  const bool is_input = op.axis != nullptr && attributes.Find(op.axis) == nullptr;
  if (is_input && !context->input(op.axis, &axis).ok()) return std::nullopt;
  return checks::RuleOf(op, attributes, axis);
}

}  // namespace

absl::StatusOr<bool> IndicesInRange(tensorflow::OpKernelContext* context, ProcessDevice& device, const IndexedOp& op,
                                    const KernelArguments& arguments) {
  if (arguments.value(op.indices).NumElements() == 0) return true;
  HPU_ASSIGN_OR_RETURN(const std::optional<tensorflow::TensorShape> shape, SizesOf(device, op, arguments));
  if (!shape.has_value()) return false;
  const std::optional<checks::IndexRule> rule = RuleOfKernel(context, op);
  const tensorflow::DataType type = arguments.value(op.indices).dtype();
  if (!rule.has_value() || !checks::IsIndexType(type)) return false;
  if (!checks::FitsIndexType(*rule, type, shape->dim_sizes())) return false;
  HPU_ASSIGN_OR_RETURN(const Tensor indices, HostCopyOf(device, arguments.value(op.indices)));
  return checks::CheckIndices(*rule, indices, shape->dim_sizes()).ok();
}

}  // namespace hpu
