// Lowering of InTopKV2 with the results of TensorFlow's kernels. The kernels return false for a target beyond the
// classes, and for a row with an infinity or NaN. tf2xla's lowering treats such a target as a prediction of 0, and
// checks only the target's prediction for infinities and NaN.
#include <algorithm>
#include <cstdint>

#include "plugin/compiler/compilation_device.h"
#include "plugin/compiler/lowerings/search_counts.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "xla/hlo/builder/lib/arithmetic.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/shape_util.h"

namespace hpu {
namespace {

using xla::XlaOp;

// Selects one element of each row without a gather, which would number the rows and so prevent row padding.
// [rows, classes], integer [rows] -> [rows, 1]
XlaOp ElementOfEach(XlaOp rows, XlaOp index, const xla::Shape& shape) {
  xla::XlaBuilder* const builder = rows.builder();
  const xla::Shape whole = xla::ShapeUtil::ChangeElementType(shape, builder->GetShape(index)->element_type());
  const XlaOp is_it = xla::Eq(xla::Iota(builder, whole, 1), index, {0});
  const XlaOp min = xla::MinValue(builder, xla::F32);
  const XlaOp element = xla::Reduce(xla::Select(is_it, rows, xla::Broadcast(min, shape.dimensions())), min,
                                    xla::CreateScalarMaxComputation(xla::F32, builder), {1});
  return xla::Reshape(element, {shape.dimensions(0), 1});
}

class InTopKLowering : public tensorflow::XlaOpKernel {
 public:
  using XlaOpKernel::XlaOpKernel;

  void Compile(tensorflow::XlaOpKernelContext* context) override {
    const absl::StatusOr<xla::Shape> predictions = context->InputXlaShape(0), targets = context->InputXlaShape(1);
    OP_REQUIRES_OK(context, predictions.status());
    OP_REQUIRES_OK(context, targets.status());
    OP_REQUIRES(
        context,
        predictions->dimensions_size() == 2 && targets->dimensions_size() == 1 &&
            predictions->dimensions(0) == targets->dimensions(0),
        absl::InvalidArgumentError(
            type_string() + ": targets must be a vector with one element for each row of the matrix predictions, got " +
            "predictions " + predictions->ToString() + " and targets " + targets->ToString()));
    int64_t k = 0;
    OP_REQUIRES_OK(context, context->ConstantInputAsIntScalar(2, &k));
    const int64_t count = predictions->dimensions(0), classes = predictions->dimensions(1);
    const XlaOp rows = context->Input(0), target = context->Input(1);
    if (count == 0 || classes == 0) {
      context->SetOutput(0, xla::Broadcast(xla::ConstantR0(rows.builder(), false), {count}));
      return;
    }
    const XlaOp known =
        xla::And(xla::Ge(target, xla::ScalarLike(target, 0)), xla::Lt(target, xla::ScalarLike(target, classes)));
    const XlaOp value = ElementOfEach(rows, target, *predictions);
    const auto bound = [&](const xla::XlaOp& number) { return xla::Broadcast(number, {count, 1}); };
    // The counts reveal special values: NaN is <= no bound, +infinity exceeds the largest finite number, and only
    // -infinity is <= -infinity.
    const XlaOp bounds = xla::ConcatInDim(
        rows.builder(),
        {value, bound(xla::MaxFiniteValue(rows.builder(), xla::F32)), bound(-xla::MaxValue(rows.builder(), xla::F32))},
        1);
    const XlaOp counts = xla::ConvertElementType(CountUpTo(rows, bounds, classes, count, 3), xla::S64);
    const auto of = [&](int64_t i) { return xla::Reshape(xla::SliceInDim(counts, i, i + 1, 1, 1), {count}); };
    const auto number = [&](int64_t n) { return xla::ScalarLike(counts, n); };
    const XlaOp among = xla::Gt(of(0), number(classes - std::clamp<int64_t>(k, 0, classes + 1)));
    const XlaOp finite = xla::And(xla::Eq(of(1), number(classes)), xla::Eq(of(2), number(0)));
    context->SetOutput(0, xla::And(known, xla::And(finite, among)));
  }
};

// tf2xla requires a constant k, and all registrations of an op must agree.
REGISTER_XLA_OP(Name("InTopKV2").Device(kCompilationDevice).CompileTimeConstantInput("k"), InTopKLowering)

}  // namespace
}  // namespace hpu
