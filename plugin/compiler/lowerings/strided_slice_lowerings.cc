// Lowerings of StridedSlice and StridedSliceGrad for computed sizes. tf2xla's lowering counts negative indices from the
// bound (x[-1]), and clamps other indices to the bound (x[1:5]).
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"
#include "plugin/compat/lowering_values.h"
#include "plugin/compiler/compilation_device.h"
#include "plugin/compiler/lowerings/dynamic_slices.h"
#include "plugin/compiler/lowerings/sized_lowering.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/lib/slicing.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/shape_util.h"

namespace hpu {
namespace {

using tensorflow::XlaOpKernelContext;
using xla::XlaOp;

// The slice of a whole array.
struct ArraySlice {
  std::vector<DimensionSlice> slices;  // by dimension of the array
  std::vector<bool> is_sliced;         // false: the whole dimension
  std::vector<int64_t> dimensions;     // by dimension of the result: dimension of the array; -1: a new axis
};

class StridedLowering : public SizedLowering {
 public:
  explicit StridedLowering(tensorflow::OpKernelConstruction* construction) : SizedLowering(construction) {
    OP_REQUIRES_OK(construction, construction->GetAttr("begin_mask", &begin_mask_));
    OP_REQUIRES_OK(construction, construction->GetAttr("end_mask", &end_mask_));
    OP_REQUIRES_OK(construction, construction->GetAttr("ellipsis_mask", &ellipsis_mask_));
    OP_REQUIRES_OK(construction, construction->GetAttr("new_axis_mask", &new_axis_mask_));
    OP_REQUIRES_OK(construction, construction->GetAttr("shrink_axis_mask", &shrink_axis_mask_));
  }

 protected:
  // The slice of an array with these sizes. Indices are inputs 1 to 3. Fails if an index is not known up to bounds,
  // apart from indices of single elements.
  absl::StatusOr<ArraySlice> FindSlice(XlaOpKernelContext* context, const std::vector<SizeNumber>& sizes) const {
    std::vector<int64_t> strides;
    HPU_RETURN_IF_ERROR(context->ConstantInputReshapedToIntVector(3, &strides));
    HPU_ASSIGN_OR_RETURN(const std::vector<SizeNumber> begin, IndicesOf(context, 1));
    HPU_ASSIGN_OR_RETURN(const std::vector<SizeNumber> end, IndicesOf(context, 2));
    if (begin.size() != strides.size() || end.size() != strides.size()) {
      return absl::InvalidArgumentError(absl::StrCat(name(), ": begin, end and strides must have the same length"));
    }
    const auto rank = static_cast<int64_t>(sizes.size());
    int64_t named = 0;  // dimensions that the indices name
    for (size_t i = 0; i < strides.size(); ++i) named += !IsSet(new_axis_mask_, i) && !IsSet(ellipsis_mask_, i);
    ArraySlice slice;
    const auto keep = [&](int64_t dimensions) {
      for (; dimensions > 0 && static_cast<int64_t>(slice.slices.size()) < rank; --dimensions) {
        const auto d = static_cast<int64_t>(slice.slices.size());
        slice.dimensions.push_back(d);
        slice.slices.push_back({SizeNumber::Known(0), sizes[d], 1});
        slice.is_sliced.push_back(false);
      }
    };
    for (size_t i = 0; i < strides.size(); ++i) {
      const auto d = static_cast<int64_t>(slice.slices.size());
      if (IsSet(ellipsis_mask_, i)) {
        keep(rank - named);
        continue;
      }
      if (IsSet(new_axis_mask_, i)) {
        slice.dimensions.push_back(-1);
        continue;
      }
      if (d >= rank || strides[i] == 0) {
        return absl::InvalidArgumentError(
            absl::StrCat(name(), ": too many indices for ", rank, " dimensions, or a stride of 0"));
      }
      if (IsSet(shrink_axis_mask_, i)) {
        if (!IsUnknown(begin[i])) RequireElement(context->builder(), begin[i], sizes[d]);
        slice.slices.push_back(ElementOfDimension(begin[i], sizes[d]));
        slice.is_sliced.push_back(true);
        continue;
      }
      const bool from = !IsSet(begin_mask_, i), to = !IsSet(end_mask_, i);
      if ((from && IsUnknown(begin[i])) || (to && IsUnknown(end[i]))) {
        return absl::UnimplementedError(
            absl::StrCat(name(), ": the size of a result depends on values; use indices that depend on shapes only"));
      }
      slice.dimensions.push_back(d);
      slice.slices.push_back(StridedDimension(from ? std::make_optional(begin[i]) : std::nullopt,
                                              to ? std::make_optional(end[i]) : std::nullopt, strides[i], sizes[d]));
      slice.is_sliced.push_back(from || to || strides[i] != 1);
    }
    keep(rank);
    return slice;
  }

 private:
  static bool IsSet(int32_t mask, size_t i) { return ((mask >> i) & 1) != 0; }

  static constexpr int64_t kUnknown = int64_t{1} << 29;  // bound of indices that depend on values

  static bool IsUnknown(const SizeNumber& index) { return index.low == -kUnknown && index.high == kUnknown; }

  static void RequireElement(xla::XlaBuilder* builder, const SizeNumber& index, const SizeNumber& size) {
    if (size.known.has_value() && index.known.has_value()) return;  // shape inference has checked it
    RequireAtLeast(builder, size, Plus(index, SizeNumber::Known(1)));
    RequireAtLeast(builder, Plus(index, size), SizeNumber::Known(0));
  }

  static absl::StatusOr<std::vector<SizeNumber>> IndicesOf(XlaOpKernelContext* context, int input) {
    absl::StatusOr<std::vector<SizeNumber>> numbers = SizeNumbersOf(context, input);
    if (numbers.ok()) return numbers;
    std::vector<SizeNumber> unknown;
    const XlaOp all = xla::ConvertElementType(context->Input(input), xla::S32);
    for (int64_t i = 0; i < context->InputShape(input).num_elements(); ++i) {
      unknown.push_back(
          SizeNumber::Computed(xla::Reshape(xla::SliceInDim(all, i, i + 1, 1, 0), {}), -kUnknown, kUnknown));
    }
    return unknown;
  }

  int32_t begin_mask_, end_mask_, ellipsis_mask_, new_axis_mask_, shrink_axis_mask_;
};

class StridedSliceLowering : public StridedLowering {
 public:
  using StridedLowering::StridedLowering;

  void Compile(XlaOpKernelContext* context) override {
    const absl::StatusOr<xla::Shape> shape = context->InputXlaShape(0);
    OP_REQUIRES_OK(context, shape.status());
    if (shape->is_static() && !IsKnownUpToBound(context, 1) && !IsKnownUpToBound(context, 2)) {
      lowering().Compute(context->op_kernel_context());
      return;
    }
    XlaOp value = context->Input(0);
    std::vector<SizeNumber> sizes = SizesOf(value, *shape);
    const absl::StatusOr<ArraySlice> slice = FindSlice(context, sizes);
    if (absl::IsUnimplemented(slice.status())) {  // a size that depends on values
      lowering().Compute(context->op_kernel_context());
      return;
    }
    OP_REQUIRES_OK(context, slice.status());
    value = RemoveSizes(value, *shape);
    std::vector<int64_t> bounds;
    std::vector<SizeNumber> lengths;
    for (int64_t d = 0; d < shape->dimensions_size(); ++d) {
      if (slice->is_sliced[d]) value = SliceDimension(value, slice->slices[d], d);
    }
    for (const int64_t d : slice->dimensions) {
      lengths.push_back(d < 0 ? SizeNumber::Known(1) : slice->slices[d].length);
      bounds.push_back(lengths.back().high);
    }
    context->SetOutput(0, SetSizes(xla::Reshape(value, bounds), lengths));
  }
};

class StridedSliceGradLowering : public StridedLowering {
 public:
  using StridedLowering::StridedLowering;

  void Compile(XlaOpKernelContext* context) override {
    const absl::StatusOr<xla::Shape> shape = context->InputXlaShape(4);
    OP_REQUIRES_OK(context, shape.status());
    const bool is_computed =
        IsKnownUpToBound(context, 0) || IsKnownUpToBound(context, 1) || IsKnownUpToBound(context, 2);
    if (shape->is_static() && !is_computed) {
      lowering().Compute(context->op_kernel_context());
      return;
    }
    const absl::StatusOr<std::vector<SizeNumber>> sizes = SizeNumbersOf(context, 0);
    OP_REQUIRES_OK(context, sizes.status());
    const absl::StatusOr<ArraySlice> slice = FindSlice(context, *sizes);
    OP_REQUIRES_OK(context, slice.status());
    OP_REQUIRES(context, shape->dimensions_size() == static_cast<int64_t>(slice->dimensions.size()),
                absl::InvalidArgumentError(absl::StrCat(name(), ": dy must have ", slice->dimensions.size(),
                                                        " dimensions, got ", shape->ToString())));
    std::vector<int64_t> bounds(sizes->size(), 1);  // of the gradient, with a dimension for each single element
    for (int64_t i = 0; i < shape->dimensions_size(); ++i) {
      if (slice->dimensions[i] >= 0) bounds[slice->dimensions[i]] = shape->dimensions(i);
    }
    XlaOp value = xla::Reshape(RemoveSizes(context->Input(4), *shape), bounds);
    for (size_t d = 0; d < sizes->size(); ++d) {
      const bool is_whole = !slice->is_sliced[d] && bounds[d] == (*sizes)[d].high;
      if (!is_whole) value = PlaceDimension(value, slice->slices[d], static_cast<int64_t>(d), (*sizes)[d].high);
    }
    context->SetOutput(0, SetSizes(value, *sizes));
  }
};

REGISTER_XLA_OP(Name("StridedSlice")
                    .Device(kCompilationDevice)
                    .CompileTimeConstantInput("begin")
                    .CompileTimeConstantInput("end")
                    .CompileTimeConstantInput("strides"),
                StridedSliceLowering)
REGISTER_XLA_OP(Name("StridedSliceGrad")
                    .Device(kCompilationDevice)
                    .CompileTimeConstantInput("shape")
                    .CompileTimeConstantInput("begin")
                    .CompileTimeConstantInput("end")
                    .CompileTimeConstantInput("strides"),
                StridedSliceGradLowering)

}  // namespace
}  // namespace hpu
