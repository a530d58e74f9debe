// What lowerings of functions of one number share.
#ifndef HPU_PLUGIN_COMPILER_LOWERINGS_ELEMENTWISE_LOWERING_H_
#define HPU_PLUGIN_COMPILER_LOWERINGS_ELEMENTWISE_LOWERING_H_

#include "absl/types/span.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "xla/client/lib/constants.h"
#include "xla/client/xla_builder.h"
#include "xla/xla_data.pb.h"

namespace hpu {

// 16-bit numbers are computed with in float32.
inline xla::XlaOp Widened(xla::XlaOp value, xla::PrimitiveType type) {
  return type == xla::BF16 || type == xla::F16 ? xla::ConvertElementType(value, xla::F32) : value;
}

inline xla::XlaOp Scalar(xla::XlaOp like, double number) { return xla::ScalarLike(like, number); }

// `condition` holds for elements of x.
inline xla::XlaOp NumberWhere(xla::XlaOp condition, double number, xla::XlaOp x) {
  return xla::Select(condition, xla::FullLike(x, number), x);
}

// By Horner's rule; the coefficient of the highest power comes first.
xla::XlaOp Polynomial(xla::XlaOp x, absl::Span<const double> coefficients);

// The sum of T_i(x / 2) times the coefficients, by Clenshaw's recurrence; the highest comes first, that of T_0 is
// doubled. As the Cephes library has them.
xla::XlaOp ChebyshevSum(xla::XlaOp x, absl::Span<const double> coefficients);

// An op that is a function of each element: `kFunction` is called with values of type float32 or float64.
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

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_LOWERINGS_ELEMENTWISE_LOWERING_H_
