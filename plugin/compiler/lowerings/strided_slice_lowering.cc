// Lowering of StridedSlice. Slices dimensions of dynamic size by themselves: tf2xla's lowering counts negative indices
// from the bound (x[-1]), and clamps other indices to the bound (x[1:5]).
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/compat/tf_2_15/lowering_values.h"
#include "plugin/compiler/compilation_device.h"
#include "plugin/compiler/make_lowering.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "xla/client/lib/constants.h"
#include "xla/client/lib/slicing.h"
#include "xla/client/xla_builder.h"
#include "xla/shape_util.h"

namespace hpu {
namespace {

using xla::XlaOp;

// A slice of one dimension. A missing index is the dimension's first or last element, by the sign of `stride`.
struct DimensionSlice {
  std::optional<int64_t> begin, end;
  int64_t stride = 1;
  bool is_index = false;  // a single element, at `begin`
};

// Maximum length of a slice over all sizes up to `bound`.
int64_t MaxLength(const DimensionSlice& slice, int64_t bound) {
  if (slice.is_index) return 1;
  int64_t range = bound;
  if (slice.stride > 0) {
    const int64_t begin = slice.begin.value_or(0), end = slice.end.value_or(bound);
    if (begin < 0) range = std::min(bound, -begin);
    if (begin >= 0) range = std::max<int64_t>(0, (end < 0 ? bound + end : std::min(end, bound)) - begin);
  }
  const int64_t step = std::abs(slice.stride);
  return (range + step - 1) / step;
}

// Slices the first `size` elements of dimension `d`. The result has padding; `length` is its size. `value` is static,
// because XLA's gather makes all dimensions static.
XlaOp SliceDimension(XlaOp value, const DimensionSlice& slice, int64_t d, int64_t bound, XlaOp size, XlaOp* length) {
  const auto constant = [&](int64_t number) {
    return xla::ScalarLike(size, std::clamp<int64_t>(number, std::numeric_limits<int32_t>::min() / 2,
                                                     std::numeric_limits<int32_t>::max() / 2));
  };
  // Positions before the first and behind the last element, to which indices are clamped.
  const XlaOp low = constant(slice.stride > 0 ? 0 : -1);
  const XlaOp high = slice.stride > 0 ? size : size - constant(1);
  const auto position = [&](const std::optional<int64_t>& index, XlaOp missing) {
    if (!index.has_value()) return missing;
    return xla::Clamp(low, *index < 0 ? size + constant(*index) : constant(*index), high);
  };
  const XlaOp begin = position(slice.begin, slice.stride > 0 ? low : high);
  const XlaOp end = position(slice.end, slice.stride > 0 ? high : low);
  const XlaOp step = constant(std::abs(slice.stride));
  const XlaOp range = xla::Max(slice.stride > 0 ? end - begin : begin - end, constant(0));
  *length = slice.is_index ? constant(1) : xla::Div(range + step - constant(1), step);
  const XlaOp iota = xla::Iota(value.builder(), xla::S32, MaxLength(slice, bound));
  const XlaOp source =
      xla::Clamp(constant(0), iota * constant(slice.stride) + begin, constant(std::max<int64_t>(0, bound - 1)));
  return xla::TorchIndexSelect(value, source, d);
}

class StridedSliceLowering : public tensorflow::XlaOpKernel {
 public:
  explicit StridedSliceLowering(tensorflow::OpKernelConstruction* construction) : XlaOpKernel(construction) {
    OP_REQUIRES_OK(construction, construction->GetAttr("begin_mask", &begin_mask_));
    OP_REQUIRES_OK(construction, construction->GetAttr("end_mask", &end_mask_));
    OP_REQUIRES_OK(construction, construction->GetAttr("ellipsis_mask", &ellipsis_mask_));
    OP_REQUIRES_OK(construction, construction->GetAttr("new_axis_mask", &new_axis_mask_));
    OP_REQUIRES_OK(construction, construction->GetAttr("shrink_axis_mask", &shrink_axis_mask_));
    auto lowering = MakeLowering(construction, tensorflow::DEVICE_CPU_XLA_JIT);
    OP_REQUIRES_OK(construction, lowering.status());
    lowering_ = *std::move(lowering);
  }

  void Compile(tensorflow::XlaOpKernelContext* context) override {
    const absl::StatusOr<xla::Shape> shape = context->InputXlaShape(0);
    OP_REQUIRES_OK(context, shape.status());
    std::vector<int64_t> begin, end, strides;
    if (shape->is_static() || !context->ConstantInputReshapedToIntVector(1, &begin).ok() ||
        !context->ConstantInputReshapedToIntVector(2, &end).ok() ||
        !context->ConstantInputReshapedToIntVector(3, &strides).ok()) {
      lowering_->Compute(context->op_kernel_context());
      return;
    }
    XlaOp value = context->Input(0);
    std::vector<XlaOp> sizes;  // of the result's dimensions; not valid: static
    OP_REQUIRES(context, begin.size() == end.size() && begin.size() == strides.size(),
                absl::InvalidArgumentError(absl::StrCat(name(), ": begin, end and strides must have the same length")));
    SliceDynamic(*shape, &begin, &end, &strides, &value, &sizes);
    tensorflow::OpKernelContext* const inner = context->op_kernel_context();
    {
      const OperandReplacement new_value(inner, 0, value);
      const OperandReplacement new_begin(inner, 1, ConstantIndices(context->input_type(1), begin));
      const OperandReplacement new_end(inner, 2, ConstantIndices(context->input_type(2), end));
      const OperandReplacement new_strides(inner, 3, ConstantIndices(context->input_type(3), strides));
      lowering_->Compute(inner);
    }
    if (!inner->status().ok()) return;
    OP_REQUIRES_OK(context, ReplaceResult(inner, 0, [&](XlaOp result) {
                     for (size_t d = 0; d < sizes.size(); ++d) {
                       if (sizes[d].valid()) result = xla::SetDimensionSize(result, sizes[d], static_cast<int64_t>(d));
                     }
                     return result;
                   }));
  }

 private:
  static tensorflow::Tensor ConstantIndices(tensorflow::DataType type, const std::vector<int64_t>& values) {
    tensorflow::Tensor tensor(type, {static_cast<int64_t>(values.size())});
    for (size_t i = 0; i < values.size(); ++i) {
      if (type == tensorflow::DT_INT64) tensor.flat<int64_t>()(i) = values[i];
      if (type == tensorflow::DT_INT32) tensor.flat<int32_t>()(i) = static_cast<int32_t>(values[i]);
      if (type == tensorflow::DT_INT16) tensor.flat<int16_t>()(i) = static_cast<int16_t>(values[i]);
    }
    return tensor;
  }

  // Slices the dynamic dimensions, and leaves a static array. The slice of a dynamic dimension becomes a slice of the
  // whole dimension.
  void SliceDynamic(const xla::Shape& shape, std::vector<int64_t>* begin, std::vector<int64_t>* end,
                    std::vector<int64_t>* strides, XlaOp* value, std::vector<XlaOp>* sizes) const {
    const auto count = static_cast<int64_t>(begin->size());
    int64_t named = 0;  // dimensions that the indices name
    for (int64_t i = 0; i < count; ++i) named += !IsSet(new_axis_mask_, i) && !IsSet(ellipsis_mask_, i);
    std::vector<XlaOp> all_sizes(shape.rank());
    for (int64_t i = 0; i < shape.rank(); ++i) {
      if (shape.is_dynamic_dimension(i)) all_sizes[i] = xla::GetDimensionSize(*value, i);
    }
    for (int64_t i = 0; i < shape.rank(); ++i) *value = xla::RemoveDynamicDimension(*value, i);
    int64_t d = 0;
    const auto keep = [&](int64_t dimensions) {
      for (; dimensions > 0 && d < shape.rank(); --dimensions, ++d) sizes->push_back(all_sizes[d]);
    };
    for (int64_t i = 0; i < count; ++i) {
      if (IsSet(ellipsis_mask_, i)) {
        keep(shape.rank() - named);
      } else if (IsSet(new_axis_mask_, i)) {
        sizes->emplace_back();
      } else if (d < shape.rank()) {
        const bool is_index = IsSet(shrink_axis_mask_, i);
        if (!is_index) sizes->emplace_back();
        if (shape.is_dynamic_dimension(d) && (*strides)[i] != 0) {
          DimensionSlice slice{std::nullopt, std::nullopt, is_index ? 1 : (*strides)[i], is_index};
          if (is_index || !IsSet(begin_mask_, i)) slice.begin = (*begin)[i];
          if (!is_index && !IsSet(end_mask_, i)) slice.end = (*end)[i];
          XlaOp length;
          *value = SliceDimension(*value, slice, d, shape.dimensions(d), all_sizes[d], &length);
          if (!is_index) sizes->back() = length;
          (*begin)[i] = 0;
          (*end)[i] = MaxLength(slice, shape.dimensions(d));
          (*strides)[i] = 1;
        }
        ++d;
      }
    }
    keep(shape.rank() - d);
  }

  static bool IsSet(int32_t mask, int64_t i) { return ((mask >> i) & 1) != 0; }

  int32_t begin_mask_, end_mask_, ellipsis_mask_, new_axis_mask_, shrink_axis_mask_;
  std::unique_ptr<tensorflow::OpKernel> lowering_;
};

REGISTER_XLA_OP(Name("StridedSlice")
                    .Device(kCompilationDevice)
                    .CompileTimeConstantInput("begin")
                    .CompileTimeConstantInput("end")
                    .CompileTimeConstantInput("strides"),
                StridedSliceLowering)

}  // namespace
}  // namespace hpu
