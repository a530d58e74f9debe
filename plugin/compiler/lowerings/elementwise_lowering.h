// Helpers for lowerings of elementwise functions.
#ifndef HPU_PLUGIN_COMPILER_LOWERINGS_ELEMENTWISE_LOWERING_H_
#define HPU_PLUGIN_COMPILER_LOWERINGS_ELEMENTWISE_LOWERING_H_

#include <limits>

#include "absl/types/span.h"
#include "tensorflow/compiler/tf2xla/lib/broadcast.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/xla_data.pb.h"

namespace hpu {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Converts 16-bit floating-point numbers to float32, in which the lowerings compute.
inline xla::XlaOp Widened(xla::XlaOp value, xla::PrimitiveType type) {
  return type == xla::BF16 || type == xla::F16 ? xla::ConvertElementType(value, xla::F32) : value;
}

inline xla::XlaOp Scalar(xla::XlaOp like, double number) { return xla::ScalarLike(like, number); }

// `number` where `condition` is true, else x. `condition` has x's shape.
inline xla::XlaOp NumberWhere(xla::XlaOp condition, double number, xla::XlaOp x) {
  return xla::Select(condition, xla::FullLike(x, number), x);
}

// x times 1 where `condition` is true, else x times 0, which is NaN for infinities and NaN. XLA replaces such a product
// of x and a condition by 0.
inline xla::XlaOp TimesIndicator(xla::XlaOp condition, xla::XlaOp x) {
  return xla::Select(condition, x, x * xla::ZerosLike(x));
}

// Evaluates a polynomial by Horner's rule; the coefficient of the highest power comes first.
xla::XlaOp Polynomial(xla::XlaOp x, absl::Span<const double> coefficients);

// Sum of coefficients times T_i(x / 2), by Clenshaw's recurrence. The highest order comes first, and T_0's coefficient
// is doubled, as in the Cephes library.
xla::XlaOp ChebyshevSum(xla::XlaOp x, absl::Span<const double> coefficients);

// xla::Erf that is 1 or -1 for large numbers. In float32, xla::Erf ends at 0.9999998, so a GELU of -10^4 would be
// -10^-3.
xla::XlaOp ErrorFunction(xla::XlaOp x);

// Lowering of an op that applies `kFunction` to each element, in float32 or float64.
template <xla::XlaOp (*kFunction)(xla::XlaOp x, xla::PrimitiveType type)>
class ElementwiseLowering : public tensorflow::XlaOpKernel {
 public:
  using tensorflow::XlaOpKernel::XlaOpKernel;
  void Compile(tensorflow::XlaOpKernelContext* context) override {
    const xla::PrimitiveType type = context->input_xla_type(0);
    const xla::XlaOp x = Widened(context->Input(0), type);
    context->SetOutput(0, xla::ConvertElementType(kFunction(x, type == xla::F64 ? xla::F64 : xla::F32), type));
  }
};

// Lowering of an op that applies `kFunction` to each pair of elements of the broadcast operands, in float32 or float64.
template <xla::XlaOp (*kFunction)(xla::XlaOp x, xla::XlaOp y, xla::PrimitiveType type)>
class PairLowering : public tensorflow::XlaOpKernel {
 public:
  using tensorflow::XlaOpKernel::XlaOpKernel;
  void Compile(tensorflow::XlaOpKernelContext* context) override {
    const xla::PrimitiveType type = context->input_xla_type(0);
    xla::XlaOp x = Widened(context->Input(0), type), y = Widened(context->Input(1), type);
    OP_REQUIRES_OK(context, tensorflow::BroadcastOpsToSame(&x, &y));
    context->SetOutput(0, xla::ConvertElementType(kFunction(x, y, type == xla::F64 ? xla::F64 : xla::F32), type));
  }
};

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_LOWERINGS_ELEMENTWISE_LOWERING_H_
