// Lowerings of fake quantization that round like the CPU's kernels (tensorflow/core/kernels/fake_quant_ops_functor.h).
// tf2xla's lowerings round zero points and inputs between two steps to the other step, and drop gradients that are
// infinite or NaN.
#include <cstdint>
#include <numeric>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/compiler/compilation_device.h"
#include "plugin/compiler/lowerings/elementwise_lowering.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "xla/hlo/builder/lib/arithmetic.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/shape_util.h"

namespace hpu {
namespace {

using tensorflow::OpKernelConstruction;
using tensorflow::XlaOpKernelContext;
using xla::XlaOp;

// Range after its zero point has been rounded to a step. Scalars, or one element for each channel.
struct NudgedRange {
  XlaOp min, max, scale, inverse_scale;
  XlaOp zero_step;   // number of steps from min to 0
  XlaOp is_nothing;  // whether the range is from 0 to 0
};

// The same number, if `product` is not negative. XLA cannot fuse the multiplication with an addition, which would not
// round the product.
XlaOp RoundedProduct(XlaOp product) { return xla::Max(product, xla::ZerosLike(product)); }

NudgedRange Nudge(XlaOp min, XlaOp max, int min_step, int max_step) {
  const XlaOp low = xla::FullLike(min, min_step), high = xla::FullLike(min, max_step), zero = xla::ZerosLike(min);
  const XlaOp distance = max - min, infinite = xla::Eq(min, xla::FullLike(min, kInfinity));
  // XLA multiplies by the reciprocal of a constant, and rewrites quotients whose divisor is a quotient, unless it sees
  // another value. For a minimum of infinity, the results are the same.
  const XlaOp steps = NumberWhere(infinite, 1, high - low);
  NudgedRange range;
  range.scale = xla::Select(infinite, distance, distance / steps);
  range.inverse_scale = steps / distance;
  const XlaOp from_min = low - min / range.scale;
  XlaOp nudged = xla::Select(xla::Gt(from_min, high), high, xla::Round(from_min));
  nudged = xla::Select(xla::Lt(from_min, low), low, nudged);
  nudged = NumberWhere(xla::Ne(from_min, from_min), 0, nudged);  // the CPU converts NaN to the integer 0
  range.min = (low - nudged) * range.scale;
  range.max = (high - nudged) * range.scale;
  range.zero_step = xla::Floor(RoundedProduct(-range.min * range.inverse_scale) + Scalar(min, 0.5));
  range.is_nothing = xla::And(xla::Eq(min, zero), xla::Eq(max, zero));
  return range;
}

// Which operations the kernels use for the number of steps of a distance.
enum class StepsBy { kQuotient, kProduct };

// Base of the lowerings: steps, and limits as operands or as attributes.
class FakeQuantizationLowering : public tensorflow::XlaOpKernel {
 public:
  explicit FakeQuantizationLowering(OpKernelConstruction* construction) : XlaOpKernel(construction) {
    int bits = 0;
    bool narrow = false;
    OP_REQUIRES_OK(construction, construction->GetAttr("num_bits", &bits));
    OP_REQUIRES_OK(construction, construction->GetAttr("narrow_range", &narrow));
    OP_REQUIRES(construction, bits >= 2 && bits <= 16,
                absl::InvalidArgumentError(
                    absl::StrCat(type_string(), ": num_bits must be between 2 and 16, inclusive, got ", bits)));
    min_step_ = narrow ? 1 : 0;
    max_step_ = (1 << bits) - 1;
    has_attributes_ = construction->HasAttr("min");
    if (!has_attributes_) return;
    OP_REQUIRES_OK(construction, construction->GetAttr("min", &min_));
    OP_REQUIRES_OK(construction, construction->GetAttr("max", &max_));
  }

 protected:
  // Range from the attributes, or from the operands `first` and `first` + 1.
  NudgedRange RangeOf(XlaOpKernelContext* context, int first) const {
    const XlaOp min = has_attributes_ ? xla::ConstantR0<float>(context->builder(), min_) : context->Input(first);
    const XlaOp max = has_attributes_ ? xla::ConstantR0<float>(context->builder(), max_) : context->Input(first + 1);
    return Nudge(min, max, min_step_, max_step_);
  }

  // Checks the limits of channels, with TensorFlow's own texts.
  absl::Status CheckChannels(XlaOpKernelContext* context, const xla::Shape& shape, int first) const {
    constexpr const char* kNames[] = {"min", "max"};
    const int64_t channels = shape.dimensions_size() > 0 ? shape.dimensions(shape.dimensions_size() - 1) : 0;
    for (int i = 0; i < 2; ++i) {
      const absl::StatusOr<xla::Shape> limit = context->InputXlaShape(first + i);
      if (!limit.ok()) return limit.status();
      if (shape.dimensions_size() > 0 && limit->dimensions_size() == 1 && limit->dimensions(0) == channels) continue;
      return absl::InvalidArgumentError(absl::StrCat(type_string(), ": ", kNames[i], " has incorrect size, expected ",
                                                     channels, " was ",
                                                     limit->dimensions_size() == 1 ? limit->dimensions(0) : 0));
    }
    return absl::OkStatus();
  }

  bool has_attributes() const { return has_attributes_; }

 private:
  int min_step_ = 0, max_step_ = 0;
  bool has_attributes_ = false;
  float min_ = 0, max_ = 0;
};

// `value`, a scalar or the last dimension of `shape`, for each element of the shape.
XlaOp ForEach(XlaOp value, const xla::Shape& shape, bool channels) {
  if (!channels) return xla::Broadcast(value, shape.dimensions());
  return xla::BroadcastInDim(value, shape.dimensions(), {shape.dimensions_size() - 1});
}

// Operands: inputs, and min and max unless they are attributes.
template <StepsBy kSteps, bool kChannels>
class FakeQuantizationValues : public FakeQuantizationLowering {
 public:
  using FakeQuantizationLowering::FakeQuantizationLowering;
  void Compile(XlaOpKernelContext* context) override {
    const absl::StatusOr<xla::Shape> shape = context->InputXlaShape(0);
    OP_REQUIRES_OK(context, shape.status());
    if (kChannels) OP_REQUIRES_OK(context, CheckChannels(context, *shape, 1));
    const NudgedRange range = RangeOf(context, 1);
    const auto each = [&](XlaOp value) { return ForEach(value, *shape, kChannels); };
    const XlaOp x = context->Input(0), min = each(range.min), max = each(range.max), scale = each(range.scale);
    // The CPU ignores limits that are NaN.
    const XlaOp below = xla::Select(xla::Lt(max, x), max, x), clamped = xla::Select(xla::Lt(below, min), min, below);
    const XlaOp distance = clamped - min;
    const XlaOp steps =
        kSteps == StepsBy::kQuotient ? distance / scale : RoundedProduct(distance * each(range.inverse_scale));
    const XlaOp result = xla::Floor(steps - each(range.zero_step) + Scalar(x, 0.5)) * scale;
    context->SetOutput(0, NumberWhere(each(range.is_nothing), 0, result));
  }
};

// Operands: gradients, inputs, and min and max unless they are attributes. Results: gradients of the inputs, and of
// min and max.
template <bool kChannels>
class FakeQuantizationGradients : public FakeQuantizationLowering {
 public:
  using FakeQuantizationLowering::FakeQuantizationLowering;
  void Compile(XlaOpKernelContext* context) override {
    const absl::StatusOr<xla::Shape> gradients_shape = context->InputXlaShape(0), shape = context->InputXlaShape(1);
    OP_REQUIRES_OK(context, gradients_shape.status());
    OP_REQUIRES_OK(context, shape.status());
    OP_REQUIRES(
        context, xla::ShapeUtil::SameDimensions(*gradients_shape, *shape),
        absl::InvalidArgumentError(absl::StrCat(type_string(), ": gradient and input must be the same size, got ",
                                                gradients_shape->ToString(), " and ", shape->ToString())));
    if (kChannels) OP_REQUIRES_OK(context, CheckChannels(context, *shape, 2));
    const NudgedRange range = RangeOf(context, 2);
    const auto each = [&](XlaOp value) { return ForEach(value, *shape, kChannels); };
    const XlaOp gradient = context->Input(0), x = context->Input(1);
    const XlaOp min = each(range.min), max = each(range.max);
    const XlaOp inside = xla::And(xla::Ge(x, min), xla::Le(x, max));
    if (has_attributes()) {
      context->SetOutput(0, TimesIndicator(inside, gradient));
      return;
    }
    context->SetOutput(0, TimesIndicator(xla::Or(inside, each(range.is_nothing)), gradient));
    std::vector<int64_t> reduced(kChannels ? shape->dimensions_size() - 1 : shape->dimensions_size());
    std::iota(reduced.begin(), reduced.end(), 0);
    const auto sum = [&](XlaOp outside) {
      const XlaOp total = xla::Reduce(TimesIndicator(outside, gradient), xla::Zero(context->builder(), xla::F32),
                                      xla::CreateScalarAddComputation(xla::F32, context->builder()), reduced);
      return NumberWhere(range.is_nothing, 0, total);
    };
    context->SetOutput(1, sum(xla::Lt(x, min)));
    context->SetOutput(2, sum(xla::Gt(x, max)));
  }
};

using FakeQuantizationByQuotient = FakeQuantizationValues<StepsBy::kQuotient, false>;
using FakeQuantizationByProduct = FakeQuantizationValues<StepsBy::kProduct, false>;
using FakeQuantizationOfChannels = FakeQuantizationValues<StepsBy::kProduct, true>;

REGISTER_XLA_OP(Name("FakeQuantWithMinMaxArgs").Device(kCompilationDevice), FakeQuantizationByProduct)
REGISTER_XLA_OP(Name("FakeQuantWithMinMaxArgsGradient").Device(kCompilationDevice), FakeQuantizationGradients<false>)
REGISTER_XLA_OP(Name("FakeQuantWithMinMaxVars").Device(kCompilationDevice), FakeQuantizationByQuotient)
REGISTER_XLA_OP(Name("FakeQuantWithMinMaxVarsGradient").Device(kCompilationDevice), FakeQuantizationGradients<false>)
REGISTER_XLA_OP(Name("FakeQuantWithMinMaxVarsPerChannel").Device(kCompilationDevice), FakeQuantizationOfChannels)
REGISTER_XLA_OP(Name("FakeQuantWithMinMaxVarsPerChannelGradient").Device(kCompilationDevice),
                FakeQuantizationGradients<true>)

}  // namespace
}  // namespace hpu
