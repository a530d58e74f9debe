// Lowerings of Slice, Split, SplitV, ConcatOffset and Pad for computed sizes.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
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

class SliceLowering : public SizedLowering {
 public:
  using SizedLowering::SizedLowering;

  void Compile(XlaOpKernelContext* context) override {
    const absl::StatusOr<xla::Shape> shape = context->InputXlaShape(0);
    OP_REQUIRES_OK(context, shape.status());
    if (shape->is_static() && !IsKnownUpToBound(context, 1) && !IsKnownUpToBound(context, 2)) {
      lowering().Compute(context->op_kernel_context());
      return;
    }
    const absl::StatusOr<std::vector<SizeNumber>> begin = SizeNumbersOf(context, 1), size = SizeNumbersOf(context, 2);
    if (!begin.ok()) {  // it depends on values
      lowering().Compute(context->op_kernel_context());
      return;
    }
    OP_REQUIRES_OK(context, size.status());
    const auto rank = static_cast<size_t>(shape->dimensions_size());
    OP_REQUIRES(context, begin->size() == rank && size->size() == rank,
                absl::InvalidArgumentError(absl::StrCat(name(), ": begin and size must have ", rank, " elements")));
    XlaOp value = context->Input(0);
    std::vector<SizeNumber> lengths;
    for (size_t i = 0; i < rank; ++i) {
      const SizeNumber whole = SizeOf(value, *shape, static_cast<int64_t>(i));
      const bool is_rest = (*size)[i].known == -1;
      const SizeNumber taken = is_rest ? SizeNumber::Known(0) : (*size)[i];
      RequireAtLeast(context->builder(), whole, Plus((*begin)[i], taken));
      lengths.push_back(is_rest ? Minus(whole, (*begin)[i]) : (*size)[i]);
      lengths.back().high = std::min(lengths.back().high, whole.high);
      if (is_rest && !lengths.back().known.has_value()) {
        lengths.back().high = std::min(whole.high, whole.high - std::max<int64_t>(0, (*begin)[i].low));
      }
    }
    value = RemoveSizes(value, *shape);
    for (size_t i = 0; i < rank; ++i) {
      const bool is_whole = (*begin)[i].known == 0 && lengths[i].high == shape->dimensions(static_cast<int64_t>(i));
      if (!is_whole) value = SliceDimension(value, {(*begin)[i], lengths[i], 1}, static_cast<int64_t>(i));
    }
    context->SetOutput(0, SetSizes(value, lengths));
  }
};

// Slices dimension `d` of an array into parts of these sizes.
void SetParts(XlaOpKernelContext* context, XlaOp value, const xla::Shape& shape, int64_t d,
              const std::vector<SizeNumber>& parts) {
  std::vector<SizeNumber> sizes = SizesOf(value, shape);
  value = RemoveSizes(value, shape);
  SizeNumber begin = SizeNumber::Known(0);
  for (size_t i = 0; i < parts.size(); ++i) {
    sizes[d] = parts[i];
    context->SetOutput(static_cast<int>(i), SetSizes(SliceDimension(value, {begin, parts[i], 1}, d), sizes));
    begin = Plus(begin, parts[i]);
  }
}

class EvenSplitLowering : public SizedLowering {
 public:
  using SizedLowering::SizedLowering;

  void Compile(XlaOpKernelContext* context) override {
    const absl::StatusOr<xla::Shape> shape = context->InputXlaShape(1);
    OP_REQUIRES_OK(context, shape.status());
    int64_t d = 0;
    OP_REQUIRES_OK(context, context->ConstantInputAsIntScalar(0, &d));
    if (d < 0) d += shape->dimensions_size();
    if (d < 0 || d >= shape->dimensions_size() || !shape->is_dynamic_dimension(d)) {
      lowering().Compute(context->op_kernel_context());
      return;
    }
    const XlaOp whole = xla::GetDimensionSize(context->Input(1), d);
    const int64_t bound = shape->dimensions(d) / num_outputs();
    const XlaOp part = xla::Div(whole, xla::ScalarLike(whole, num_outputs()));
    SetParts(context, context->Input(1), *shape, d,
             std::vector<SizeNumber>(num_outputs(), SizeNumber::Computed(part, 0, bound)));
  }
};

class SplitVLowering : public SizedLowering {
 public:
  using SizedLowering::SizedLowering;

  void Compile(XlaOpKernelContext* context) override {
    const absl::StatusOr<xla::Shape> shape = context->InputXlaShape(0);
    OP_REQUIRES_OK(context, shape.status());
    int64_t d = 0;
    OP_REQUIRES_OK(context, context->ConstantInputAsIntScalar(2, &d));
    if (d < 0) d += shape->dimensions_size();
    const bool is_computed = IsKnownUpToBound(context, 1);
    if (d < 0 || d >= shape->dimensions_size() || (!shape->is_dynamic_dimension(d) && !is_computed)) {
      lowering().Compute(context->op_kernel_context());
      return;
    }
    absl::StatusOr<std::vector<SizeNumber>> parts = SizeNumbersOf(context, 1);
    OP_REQUIRES_OK(context, parts.status());
    const SizeNumber whole = SizeOf(context->Input(0), *shape, d);
    SizeNumber rest = whole;
    SizeNumber* missing = nullptr;
    for (SizeNumber& part : *parts) {
      if (part.known != -1) rest = Minus(rest, part);
      if (part.known == -1) missing = &part;
      if (!part.known.has_value()) part.high = std::min(part.high, whole.high);
    }
    RequireAtLeast(context->builder(), rest, SizeNumber::Known(0));
    if (missing == nullptr) {
      RequireAtLeast(context->builder(), SizeNumber::Known(0), rest);
    } else {
      *missing = Most(rest, SizeNumber::Known(0));
      if (!rest.known.has_value()) missing->high = std::clamp<int64_t>(rest.high, 0, whole.high);
    }
    SetParts(context, context->Input(0), *shape, d, *parts);
  }
};

class ConcatOffsetLowering : public SizedLowering {
 public:
  using SizedLowering::SizedLowering;

  void Compile(XlaOpKernelContext* context) override {
    bool is_computed = false;
    for (int i = 1; i < num_inputs(); ++i) is_computed = is_computed || IsKnownUpToBound(context, i);
    if (!is_computed) {
      lowering().Compute(context->op_kernel_context());
      return;
    }
    int64_t d = 0;
    OP_REQUIRES_OK(context, context->ConstantInputAsIntScalar(0, &d));
    const int64_t rank = context->InputShape(1).num_elements();
    if (d < 0) d += rank;
    OP_REQUIRES(context, 0 <= d && d < rank,
                absl::InvalidArgumentError(absl::StrCat(name(), ": concat_dim must be below ", rank, ", got ", d)));
    const auto zeros = [&](int64_t count) {
      return xla::Zeros(context->builder(), xla::ShapeUtil::MakeShape(context->input_xla_type(1), {count}));
    };
    XlaOp offset = zeros(1);
    for (int i = 1; i < num_inputs(); ++i) {
      context->SetOutput(i - 1, xla::ConcatInDim(context->builder(), {zeros(d), offset, zeros(rank - d - 1)}, 0));
      offset = xla::Add(offset, xla::SliceInDim(context->Input(i), d, d + 1, 1, 0));
    }
  }
};

// tf2xla's lowering needs known paddings before the first element.
class PadLowering : public SizedLowering {
 public:
  using SizedLowering::SizedLowering;

  void Compile(XlaOpKernelContext* context) override {
    const bool is_computed = IsKnownUpToBound(context, 1);
    const absl::StatusOr<std::vector<SizeNumber>> paddings = SizeNumbersOf(context, 1);
    bool has_computed_low = false;
    for (size_t i = 0; is_computed && paddings.ok() && i < paddings->size(); i += 2) {
      has_computed_low = has_computed_low || !(*paddings)[i].known.has_value();
    }
    if (!has_computed_low) {
      lowering().Compute(context->op_kernel_context());
      return;
    }
    const absl::StatusOr<xla::Shape> shape = context->InputXlaShape(0);
    OP_REQUIRES_OK(context, shape.status());
    OP_REQUIRES(context, static_cast<int64_t>(paddings->size()) == 2 * shape->dimensions_size(),
                absl::InvalidArgumentError(
                    absl::StrCat(name(), ": expected paddings of shape [", shape->dimensions_size(), ", 2]")));
    XlaOp value = context->Input(0);
    std::vector<SizeNumber> sizes = SizesOf(value, *shape);
    value = RemoveSizes(value, *shape);
    for (int64_t d = 0; d < shape->dimensions_size(); ++d) {
      const SizeNumber& low = (*paddings)[2 * d];
      const SizeNumber padded = Plus(Plus(sizes[d], low), (*paddings)[2 * d + 1]);
      value = PlaceDimension(value, {low, sizes[d], 1}, d, padded.high);
      sizes[d] = padded;
    }
    context->SetOutput(0, SetSizes(value, sizes));
  }
};

REGISTER_XLA_OP(Name("Pad").Device(kCompilationDevice).CompileTimeConstantInput("paddings"), PadLowering)
REGISTER_XLA_OP(
    Name("Slice").Device(kCompilationDevice).CompileTimeConstantInput("begin").CompileTimeConstantInput("size"),
    SliceLowering)
REGISTER_XLA_OP(Name("Split").Device(kCompilationDevice).CompileTimeConstantInput("split_dim"), EvenSplitLowering)
REGISTER_XLA_OP(Name("SplitV")
                    .Device(kCompilationDevice)
                    .CompileTimeConstantInput("split_dim")
                    .CompileTimeConstantInput("size_splits"),
                SplitVLowering)
REGISTER_XLA_OP(Name("ConcatOffset")
                    .Device(kCompilationDevice)
                    .CompileTimeConstantInput("concat_dim")
                    .CompileTimeConstantInput("shape"),
                ConcatOffsetLowering)

}  // namespace
}  // namespace hpu
