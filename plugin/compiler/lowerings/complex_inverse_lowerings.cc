// Lowerings of inverse functions, log1p and rsqrt that are correct for all finite complex numbers. XLA's functions
// return results of another branch or lose digits left of the imaginary axis, on branch cuts and near poles.
//
// Formulas: W. Kahan, "Branch cuts for complex elementary functions, or much ado about nothing's sign bit", 1987.
#include "plugin/compat/unary_ops.h"
#include "plugin/compiler/compilation_device.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "tensorflow/core/framework/types.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/lib/math.h"
#include "xla/hlo/builder/xla_builder.h"

namespace hpu {
namespace {

using xla::XlaOp;

// Real and imaginary parts of a complex number. XLA's sums of complex numbers lose the signs of zeros.
struct Parts {
  XlaOp real, imaginary;
};

Parts Split(XlaOp z) { return {xla::Real(z), xla::Imag(z)}; }
XlaOp Join(const Parts& z) { return xla::Complex(z.real, z.imaginary); }
XlaOp One(XlaOp like) { return xla::ScalarLike(like, 1); }

XlaOp IsNegative(XlaOp x, xla::PrimitiveType type) {  // also true for -0
  const XlaOp bits = xla::BitcastConvertType(x, type == xla::C64 ? xla::S32 : xla::S64);
  return xla::Lt(bits, xla::ScalarLike(bits, 0));
}

XlaOp WithSign(XlaOp magnitude, XlaOp sign, xla::PrimitiveType type) {
  return xla::Select(IsNegative(sign, type), -magnitude, magnitude);
}

// Half the absolute value of z. Does not overflow if z is finite.
XlaOp HalfLength(const Parts& z) {
  const XlaOp a = xla::Abs(z.real), b = xla::Abs(z.imaginary);
  const XlaOp longer = xla::Max(a, b), shorter = xla::Min(a, b), half = xla::ScalarLike(a, 0.5);
  const XlaOp ratio = xla::Select(xla::Eq(longer, xla::ZerosLike(longer)), xla::ZerosLike(longer), shorter / longer);
  return longer * half * xla::Sqrt(One(ratio) + ratio * ratio);
}

// The square root with a non-negative real part. Its imaginary part has the sign of z's imaginary part.
Parts Root(const Parts& z, xla::PrimitiveType type) {
  const XlaOp a = xla::Abs(z.real), b = xla::Abs(z.imaginary);
  const XlaOp t = xla::Sqrt(HalfLength(z) + a * xla::ScalarLike(a, 0.5));
  const XlaOp other = xla::Select(xla::Eq(t, xla::ZerosLike(t)), xla::ZerosLike(t), b / (t * xla::ScalarLike(t, 2)));
  const XlaOp left = xla::Lt(z.real, xla::ZerosLike(z.real));
  return {xla::Select(left, other, t), WithSign(xla::Select(left, t, other), z.imaginary, type)};
}

// The square roots of 1 - z, 1 + z and z - 1.
Parts RootBelowOne(const Parts& z, xla::PrimitiveType type) { return Root({One(z.real) - z.real, -z.imaginary}, type); }
Parts RootAboveMinusOne(const Parts& z, xla::PrimitiveType type) {
  return Root({One(z.real) + z.real, z.imaginary}, type);
}
Parts RootAboveOne(const Parts& z, xla::PrimitiveType type) { return Root({z.real - One(z.real), z.imaginary}, type); }

XlaOp RealOfProduct(const Parts& x, const Parts& y) { return x.real * y.real - x.imaginary * y.imaginary; }
XlaOp ImaginaryOfProduct(const Parts& x, const Parts& y) { return x.real * y.imaginary + x.imaginary * y.real; }
Parts Conjugate(const Parts& z) { return {z.real, -z.imaginary}; }

// xla::Asinh that keeps the sign of a zero.
XlaOp RealAsinh(XlaOp x, xla::PrimitiveType type) { return WithSign(xla::Asinh(xla::Abs(x)), x, type); }

Parts Asin(const Parts& z, xla::PrimitiveType type) {
  const Parts below = RootBelowOne(z, type), above = RootAboveMinusOne(z, type);
  return {xla::Atan2(z.real, RealOfProduct(below, above)),
          RealAsinh(ImaginaryOfProduct(Conjugate(below), above), type)};
}

Parts Acos(const Parts& z, xla::PrimitiveType type) {
  const Parts below = RootBelowOne(z, type), above = RootAboveMinusOne(z, type);
  return {xla::ScalarLike(z.real, 2) * xla::Atan2(below.real, above.real),
          RealAsinh(ImaginaryOfProduct(Conjugate(above), below), type)};
}

Parts Asinh(const Parts& z, xla::PrimitiveType type) {  // asinh(z) = -i asin(i z)
  const Parts turned = Asin({-z.imaginary, z.real}, type);
  return {turned.imaginary, -turned.real};
}

Parts Acosh(const Parts& z, xla::PrimitiveType type) {
  const Parts below = RootAboveOne(z, type), above = RootAboveMinusOne(z, type);
  return {RealAsinh(RealOfProduct(Conjugate(below), above), type),
          xla::ScalarLike(z.real, 2) * xla::Atan2(below.imaginary, above.real)};
}

Parts Atanh(const Parts& z, xla::PrimitiveType type) {
  const XlaOp x = xla::Abs(z.real), one = One(x), square = z.imaginary * z.imaginary, below = one - x;
  const XlaOp real = xla::Log1p(xla::ScalarLike(x, 4) * x / (below * below + square)) * xla::ScalarLike(x, 0.25);
  const XlaOp angle = xla::Atan2(xla::ScalarLike(x, 2) * z.imaginary, below * (one + x) - square);
  return {WithSign(real, z.real, type), angle * xla::ScalarLike(angle, 0.5)};
}

Parts Atan(const Parts& z, xla::PrimitiveType type) {  // atan(z) = -i atanh(i z)
  const Parts turned = Atanh({-z.imaginary, z.real}, type);
  return {turned.imaginary, -turned.real};
}

// xla::Log1p is accurate for real parts near 0; log(1 + z) is accurate for all other numbers.
Parts Log1p(const Parts& z, xla::PrimitiveType) {
  const XlaOp sum = xla::Log(Join({One(z.real) + z.real, z.imaginary})), whole = xla::Log1p(Join(z));
  const XlaOp near = xla::Lt(xla::Abs(z.real), xla::ScalarLike(z.real, 0.5));
  return Split(xla::Select(near, whole, sum));
}

Parts Rsqrt(const Parts& z, xla::PrimitiveType type) {
  const XlaOp root = Join(Root(z, type));
  return Split(xla::ScalarLike(root, 1) / root);
}

template <Parts (*kComplex)(const Parts& z, xla::PrimitiveType type), XlaOp (*kReal)(XlaOp x)>
class InverseLowering : public tensorflow::XlaOpKernel {
 public:
  using XlaOpKernel::XlaOpKernel;
  void Compile(tensorflow::XlaOpKernelContext* context) override {
    const XlaOp z = context->Input(0);
    if (!tensorflow::DataTypeIsComplex(input_type(0))) return context->SetOutput(0, kReal(z));
    // Uses XLA's function for infinities and NaN, because its limits are correct.
    const Parts parts = Split(z);
    const XlaOp finite = xla::And(xla::IsFinite(parts.real), xla::IsFinite(parts.imaginary));
    context->SetOutput(0, xla::Select(finite, Join(kComplex(parts, context->input_xla_type(0))), kReal(z)));
  }
};

#define HPU_REGISTER(op)                                       \
  using op##Lowering = InverseLowering<op, compat::unary::op>; \
  REGISTER_XLA_OP(Name(#op).Device(kCompilationDevice), op##Lowering)
HPU_REGISTER(Acos)
HPU_REGISTER(Acosh)
HPU_REGISTER(Asin)
HPU_REGISTER(Asinh)
HPU_REGISTER(Atan)
HPU_REGISTER(Atanh)
HPU_REGISTER(Log1p)
HPU_REGISTER(Rsqrt)
#undef HPU_REGISTER

}  // namespace
}  // namespace hpu
