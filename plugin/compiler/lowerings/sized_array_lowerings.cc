// Lowerings of Tile, OneHot, ScatterNd and GatherNd for computed sizes.
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/compat/lowering_values.h"
#include "plugin/compiler/compilation_device.h"
#include "plugin/compiler/dynamic_shapes/size_numbers.h"
#include "plugin/compiler/lowerings/sized_lowering.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/lib/slicing.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/shape_util.h"

namespace hpu {
namespace {

using tensorflow::Tensor;
using tensorflow::XlaOpKernelContext;
using xla::XlaOp;

// The bounds of numbers, with the shape of the input that holds them.
Tensor BoundsOf(XlaOpKernelContext* context, int input, const std::vector<SizeNumber>& numbers) {
  Tensor bounds(context->input_type(input), context->InputShape(input));
  for (size_t i = 0; i < numbers.size(); ++i) {
    const auto element = static_cast<int64_t>(i);
    if (bounds.dtype() == tensorflow::DT_INT64) bounds.flat<int64_t>()(element) = numbers[i].high;
    if (bounds.dtype() == tensorflow::DT_INT32) {
      bounds.flat<int32_t>()(element) = static_cast<int32_t>(numbers[i].high);
    }
  }
  return bounds;
}

// Repeats dimension `d` of a static array.
XlaOp RepeatDimension(XlaOp value, const SizeNumber& size, int64_t multiple, int64_t d) {
  if (multiple == 1) return value;
  xla::XlaBuilder* const builder = value.builder();
  const xla::Shape shape = *builder->GetShape(value);
  if (!size.known.has_value()) {
    const XlaOp one = xla::ConstantR0<int32_t>(builder, 1);
    const XlaOp position = xla::Iota(builder, xla::S32, multiple * size.high);
    return xla::TorchIndexSelect(value, xla::Rem(position, xla::Max(size.value, one)), d);
  }
  std::vector<int64_t> repeated(shape.dimensions().begin(), shape.dimensions().end()), kept;
  for (int64_t i = 0; i < shape.dimensions_size(); ++i) kept.push_back(i < d ? i : i + 1);
  repeated.insert(repeated.begin() + d, multiple);
  value = xla::BroadcastInDim(value, repeated, kept);
  repeated.erase(repeated.begin() + d);
  repeated[d] *= multiple;
  return xla::Reshape(value, repeated);
}

class TileLowering : public SizedLowering {
 public:
  using SizedLowering::SizedLowering;

  void Compile(XlaOpKernelContext* context) override {
    if (!IsKnownUpToBound(context, 1)) {
      lowering().Compute(context->op_kernel_context());
      return;
    }
    const absl::StatusOr<xla::Shape> shape = context->InputXlaShape(0);
    const absl::StatusOr<std::vector<SizeNumber>> multiples = SizeNumbersOf(context, 1);
    OP_REQUIRES_OK(context, shape.status());
    OP_REQUIRES_OK(context, multiples.status());
    OP_REQUIRES(context, static_cast<int64_t>(multiples->size()) == shape->dimensions_size(),
                absl::InvalidArgumentError(absl::StrCat(name(), ": expected ", shape->dimensions_size(),
                                                        " multiples, got ", multiples->size())));
    const XlaOp input = context->Input(0);
    XlaOp value = RemoveSizes(input, *shape);
    std::vector<SizeNumber> sizes;
    for (int64_t d = 0; d < shape->dimensions_size(); ++d) {
      const SizeNumber size = SizeOf(input, *shape, d);
      value = RepeatDimension(value, size, (*multiples)[d].high, d);
      sizes.push_back(Times(size, (*multiples)[d]));
    }
    context->SetOutput(0, SetSizes(value, sizes));
  }
};

class OneHotLowering : public SizedLowering {
 public:
  explicit OneHotLowering(tensorflow::OpKernelConstruction* construction) : SizedLowering(construction) {
    OP_REQUIRES_OK(construction, construction->GetAttr("axis", &axis_));
  }

  void Compile(XlaOpKernelContext* context) override {
    tensorflow::OpKernelContext* const inner = context->op_kernel_context();
    if (!IsKnownUpToBound(context, 1)) {
      lowering().Compute(inner);
      return;
    }
    const absl::StatusOr<std::vector<SizeNumber>> depth = SizeNumbersOf(context, 1);
    OP_REQUIRES_OK(context, depth.status());
    {
      const OperandReplacement bound(inner, 1, BoundsOf(context, 1, *depth));
      lowering().Compute(inner);
    }
    if (!inner->status().ok()) return;
    const int64_t axis = axis_ < 0 ? context->InputShape(0).dims() : axis_;
    OP_REQUIRES_OK(context, ReplaceResult(inner, 0, [&](XlaOp result) {
                     return xla::SetDimensionSize(result, (*depth)[0].AsOp(result.builder()), axis);
                   }));
  }

 private:
  int64_t axis_;
};

class ScatterNdLowering : public SizedLowering {
 public:
  using SizedLowering::SizedLowering;

  void Compile(XlaOpKernelContext* context) override {
    tensorflow::OpKernelContext* const inner = context->op_kernel_context();
    if (!IsKnownUpToBound(context, 2)) {
      lowering().Compute(inner);
      return;
    }
    const absl::StatusOr<std::vector<SizeNumber>> sizes = SizeNumbersOf(context, 2);
    OP_REQUIRES_OK(context, sizes.status());
    {
      const OperandReplacement bounds(inner, 2, BoundsOf(context, 2, *sizes));
      lowering().Compute(inner);
    }
    if (!inner->status().ok()) return;
    OP_REQUIRES_OK(context, ReplaceResult(inner, 0, [&](XlaOp result) {
                     const xla::Shape shape = *result.builder()->GetShape(result);
                     return SetSizes(RemoveSizes(result, shape), *sizes);
                   }));
  }
};

// Slices of dynamic shape become static in tf2xla's lowering.
class GatherNdLowering : public SizedLowering {
 public:
  using SizedLowering::SizedLowering;

  void Compile(XlaOpKernelContext* context) override {
    tensorflow::OpKernelContext* const inner = context->op_kernel_context();
    const absl::StatusOr<xla::Shape> shape = context->InputXlaShape(0), indices = context->InputXlaShape(1);
    OP_REQUIRES_OK(context, shape.status());
    OP_REQUIRES_OK(context, indices.status());
    const int64_t depth = indices->dimensions_size() == 0 ? 0 : indices->dimensions(indices->dimensions_size() - 1);
    const XlaOp input = context->Input(0);
    std::vector<SizeNumber> sizes;
    for (int64_t d = 0; d + 1 < indices->dimensions_size(); ++d)
      sizes.push_back(SizeNumber::Known(indices->dimensions(d)));
    bool is_computed = false;
    for (int64_t d = depth; d < shape->dimensions_size(); ++d) {
      sizes.push_back(SizeOf(input, *shape, d));
      is_computed = is_computed || shape->is_dynamic_dimension(d);
    }
    if (!is_computed) {
      lowering().Compute(inner);
      return;
    }
    {
      const OperandReplacement bounds(inner, 0, RemoveSizes(input, *shape));
      lowering().Compute(inner);
    }
    if (!inner->status().ok()) return;
    OP_REQUIRES_OK(context, ReplaceResult(inner, 0, [&](XlaOp result) { return SetSizes(result, sizes); }));
  }
};

REGISTER_XLA_OP(Name("Tile").Device(kCompilationDevice).CompileTimeConstantInput("multiples"), TileLowering)
REGISTER_XLA_OP(Name("OneHot").Device(kCompilationDevice).CompileTimeConstantInput("depth"), OneHotLowering)
REGISTER_XLA_OP(Name("ScatterNd").Device(kCompilationDevice).CompileTimeConstantInput("shape"), ScatterNdLowering)
REGISTER_XLA_OP(Name("GatherNd").Device(kCompilationDevice), GatherNdLowering)

}  // namespace
}  // namespace hpu
