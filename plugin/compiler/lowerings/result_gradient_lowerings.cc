// Lowerings of gradients that are functions of their op's result. tf2xla's lowerings do not conjugate complex results.
// They also broadcast operands of different shapes, whereas the CPU kernels require the same number of elements and
// return the result's shape.
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "plugin/compiler/compilation_device.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "tensorflow/core/framework/types.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/shape_util.h"

namespace hpu {
namespace {

using tensorflow::XlaOpKernelContext;
using xla::XlaOp;

using Gradient = XlaOp (*)(XlaOp y, XlaOp dy);

// Calls `kGradient` with the result, or its conjugate, and the result's gradient.
template <Gradient kGradient, bool kConjugates>
class GradientLowering : public tensorflow::XlaOpKernel {
 public:
  using XlaOpKernel::XlaOpKernel;
  void Compile(XlaOpKernelContext* context) override {
    const absl::StatusOr<xla::Shape> shape = context->InputXlaShape(0), other = context->InputXlaShape(1);
    OP_REQUIRES_OK(context, shape.status());
    OP_REQUIRES_OK(context, other.status());
    const int64_t elements = xla::ShapeUtil::ElementsIn(*shape), others = xla::ShapeUtil::ElementsIn(*other);
    // TensorFlow's own text.
    OP_REQUIRES(
        context, elements == others,
        absl::InvalidArgumentError(absl::StrCat(
            "The two arguments to a cwise op must have same number of elements, got ", elements, " and ", others)));
    XlaOp y = context->Input(0), dy = context->Input(1);
    if (kConjugates && tensorflow::DataTypeIsComplex(input_type(0))) y = xla::Conj(y);
    if (!xla::ShapeUtil::SameDimensions(*shape, *other)) dy = xla::Reshape(dy, shape->dimensions());
    context->SetOutput(0, kGradient(y, dy));
  }
};

// The CPU kernels return 0 where dy is 0, also where y is infinite, NaN or a divisor of 0.
XlaOp ZeroWhereZero(XlaOp dy, XlaOp gradient) {
  const XlaOp zero = xla::ZerosLike(dy);
  return xla::Select(xla::Eq(dy, zero), zero, gradient);
}

XlaOp ReciprocalGradient(XlaOp y, XlaOp dy) { return ZeroWhereZero(dy, -(dy * (y * y))); }
XlaOp RsqrtGradient(XlaOp y, XlaOp dy) { return ZeroWhereZero(dy, ((y * y) * y) * (dy / xla::ScalarLike(dy, -2))); }
XlaOp SqrtGradient(XlaOp y, XlaOp dy) { return ZeroWhereZero(dy, (dy * xla::ScalarLike(dy, 0.5)) / y); }

// As on the CPU, the inputs y of SigmoidGrad and TanhGrad are already conjugated.
XlaOp SigmoidGradient(XlaOp y, XlaOp dy) { return (dy * y) * (xla::ScalarLike(y, 1) - y); }
XlaOp TanhGradient(XlaOp y, XlaOp dy) { return dy * (xla::ScalarLike(y, 1) - y * y); }

template <Gradient kGradient>
using OfConjugate = GradientLowering<kGradient, true>;
template <Gradient kGradient>
using OfResult = GradientLowering<kGradient, false>;

REGISTER_XLA_OP(Name("InvGrad").Device(kCompilationDevice), OfConjugate<ReciprocalGradient>)
REGISTER_XLA_OP(Name("ReciprocalGrad").Device(kCompilationDevice), OfConjugate<ReciprocalGradient>)
REGISTER_XLA_OP(Name("RsqrtGrad").Device(kCompilationDevice), OfConjugate<RsqrtGradient>)
REGISTER_XLA_OP(Name("SigmoidGrad").Device(kCompilationDevice), OfResult<SigmoidGradient>)
REGISTER_XLA_OP(Name("SqrtGrad").Device(kCompilationDevice), OfConjugate<SqrtGradient>)
REGISTER_XLA_OP(Name("TanhGrad").Device(kCompilationDevice), OfResult<TanhGradient>)

}  // namespace
}  // namespace hpu
