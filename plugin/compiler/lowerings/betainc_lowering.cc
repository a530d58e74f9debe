// Lowering of the regularised incomplete beta function. Evaluates a continued fraction from the last term to the first,
// and carries one value from term to term. So XLA builds one vector loop. TensorFlow's lowering carries six values.
// Formula: NIST's Digital Library of Mathematical Functions, 8.17.22.
#include <cstdint>
#include <iterator>
#include <limits>
#include <numeric>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/compiler/compilation_device.h"
#include "plugin/compiler/lowerings/elementwise_lowering.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "xla/hlo/builder/lib/arithmetic.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/lib/loops.h"
#include "xla/hlo/builder/lib/math.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/shape_util.h"

namespace hpu {
namespace {

using tensorflow::XlaOpKernelContext;
using xla::PrimitiveType;
using xla::XlaOp;

// Lanczos' approximation: gamma(a + 1) = LanczosSum(a) * (a + kShift)^(a + 1/2) / e^(a + kShift). The float32
// coefficients are Boost's with six terms, a quotient of polynomials. The float64 coefficients are P. Godfrey's with
// nine terms.
constexpr double kFloatOver[] = {58.520615917695909, 182.52489625958943, 211.09710285100418,
                                 112.25265478836681, 27.519201519745540, 2.5066285851525698};
constexpr double kFloatUnder[] = {24, 50, 35, 10, 1};
constexpr double kFloatShift = 1.9284561350941658;
constexpr double kDoublePoles[] = {676.52036812188510,   -1259.1392167224029,  771.32342877765308,
                                   -176.61502916214060,  12.507343278686905,   -0.1385710952657201,
                                   9.984369578019571e-6, 1.5056327351493116e-7};
constexpr double kDoubleShift = 7.5;
constexpr double kRootOfTwoPi = 2.50662827463100050;

// Truncation of the continued fraction.
struct Precision {
  double digits;  // natural logarithm of 1 / error, plus a margin
  double terms_of_root;
  int max_pairs;
  // If x or 1 - x exceeds `edge`, Converges selects the side on which the fraction is evaluated. Otherwise the mean
  // selects the side.
  double edge;
};
constexpr Precision kOfFloats = {17, 1, 200, 0.995};
constexpr Precision kOfDoubles = {35, 1.2, 300, 0.98};
// Pairs of terms per loop iteration.
constexpr int kPairs = 4;

double Shift(PrimitiveType type) { return type == xla::F64 ? kDoubleShift : kFloatShift; }

// Requires a >= 0.
XlaOp LanczosSum(XlaOp a, PrimitiveType type) {
  if (type == xla::F64) {
    XlaOp sum = xla::FullLike(a, 0.99999999999980993);
    for (size_t i = 0; i < std::size(kDoublePoles); ++i) {
      sum = sum + Scalar(a, kDoublePoles[i]) / (a + Scalar(a, static_cast<double>(i + 1)));
    }
    return sum * Scalar(a, kRootOfTwoPi);
  }
  const XlaOp inverse = Scalar(a, 1) / (a + Scalar(a, 1));
  return Polynomial(inverse, kFloatOver) / Polynomial(inverse, kFloatUnder);
}

// Arguments of I_x(a, b), where a, b > 0, 0 < x < 1 and y = 1 - x.
struct Arguments {
  XlaOp a, b, x, y;
};

// x^a y^b gamma(a + b) / (gamma(a + 1) gamma(b + 1)) * (a + b). Computed by products of powers, because the logarithms
// of gamma are large and subtracting them loses digits.
XlaOp Factor(const Arguments& of, PrimitiveType type) {
  const auto& [a, b, x, y] = of;
  const XlaOp shift = Scalar(a, Shift(type)), c = a + b;
  const XlaOp ta = a + shift, tb = b + shift, tc = c + shift;
  const XlaOp sums = LanczosSum(c, type) / (LanczosSum(a, type) * LanczosSum(b, type));
  const XlaOp powers = a * xla::Log(x * (tc / ta)) + b * xla::Log(y * (tc / tb));
  return sums * xla::Exp(powers + shift) * xla::Sqrt(tc / ta / tb);
}

XlaOp Converges(const Arguments& of) {
  const XlaOp one = Scalar(of.a, 1);
  return xla::Le(of.x, (of.a + one) / (of.a + of.b + Scalar(of.a, 2)));
}

// Number of pairs of terms that all elements need, rounded up to a multiple of kPairs.
XlaOp PairsFor(const Arguments& of, const Precision& precision, const xla::Shape& shape) {
  const XlaOp root = xla::Sqrt(xla::Max(of.a, of.b)) * Scalar(of.a, precision.terms_of_root);
  // Each pair of terms multiplies the truncation error by ((1 - s) / (1 + s))^2.
  const XlaOp s = xla::Sqrt(of.y);
  const XlaOp slow = Scalar(s, precision.digits / 2) / (xla::Log1p(s) - xla::Log1p(-s));
  const XlaOp need =
      root + xla::Select(Converges(of), xla::FullLike(of.a, precision.digits / 2 + 2), slow + Scalar(s, 4));
  // Uses the maximum for NaN.
  const XlaOp max = xla::FullLike(need, precision.max_pairs);
  const XlaOp bounded = xla::Select(xla::Le(need, max), need, max);
  std::vector<int64_t> dimensions(shape.dimensions_size());
  std::iota(dimensions.begin(), dimensions.end(), 0);
  xla::XlaBuilder* builder = of.a.builder();
  const XlaOp greatest = xla::Reduce(bounded, xla::Zero(builder, shape.element_type()),
                                     xla::CreateScalarMaxComputation(shape.element_type(), builder), dimensions);
  const XlaOp turns = xla::ConvertElementType(xla::Ceil(greatest / Scalar(greatest, kPairs)), xla::S32);
  return turns * xla::ScalarLike(turns, kPairs);
}

// Value of the fraction from pair m to the end. `after` is the fraction's value from pair m + 1 to the end.
XlaOp BeforePair(XlaOp m, XlaOp after, const Arguments& of) {
  const auto& [a, b, x, y] = of;
  const XlaOp one = Scalar(a, 1), u = one / (a + m + m);
  const XlaOp odd = (a + m) * u * ((a + b + m) * x) * u;
  const XlaOp even = m * u * ((b - m) * x) * u;
  const XlaOp product = after * (one + u);
  return one + even * product / ((one - u) * (product - odd));
}

absl::StatusOr<XlaOp> ContinuedFraction(const Arguments& of, const Precision& precision, const xla::Shape& shape) {
  const auto more = [](absl::Span<const XlaOp> state, xla::XlaBuilder*) -> absl::StatusOr<XlaOp> {
    return xla::Gt(state[0], xla::ScalarLike(state[0], 0));
  };
  const auto turn = [type = shape.element_type()](absl::Span<const XlaOp> state,
                                                  xla::XlaBuilder*) -> absl::StatusOr<std::vector<XlaOp>> {
    const Arguments of = {state[2], state[3], state[4], XlaOp()};
    const XlaOp last = xla::ConvertElementType(state[0], type);
    XlaOp value = state[1];
    for (int i = 0; i < kPairs; ++i) value = BeforePair(last - Scalar(last, i), value, of);
    return std::vector<XlaOp>{state[0] - xla::ScalarLike(state[0], kPairs), value, of.a, of.b, of.x};
  };
  const XlaOp end = xla::FullLike(of.a, 1);
  const auto state = xla::WhileLoopHelper(more, turn, {PairsFor(of, precision, shape), end, of.a, of.b, of.x},
                                          "incomplete_beta", of.a.builder());
  if (!state.ok()) return state.status();
  const XlaOp value = (*state)[1];
  return value / (value - (of.a + of.b) * of.x / (of.a + Scalar(of.a, 1)));
}

absl::StatusOr<XlaOp> IncompleteBeta(XlaOp a, XlaOp b, XlaOp x, const xla::Shape& shape) {
  const PrimitiveType type = shape.element_type();
  const Precision& precision = type == xla::F64 ? kOfDoubles : kOfFloats;
  const XlaOp zero = xla::ZerosLike(x), one = xla::FullLike(x, 1), half = xla::FullLike(x, 0.5);
  const XlaOp inside = xla::And(xla::Gt(x, zero), xla::Lt(x, one));
  const XlaOp valid = xla::And(inside, xla::And(xla::Gt(a, zero), xla::Gt(b, zero)));
  Arguments of = {xla::Select(valid, a, one), xla::Select(valid, b, one), xla::Select(valid, x, half), XlaOp()};
  of.y = one - of.x;
  const XlaOp factor = Factor(of, type) / (of.a + of.b);
  // Above the mean, computes 1 - I_y(b, a). So small results are never differences, which would lose digits.
  const XlaOp at_edge = xla::Gt(xla::Max(of.x, of.y), Scalar(x, precision.edge));
  const XlaOp direct = xla::Select(at_edge, Converges(of), xla::Le(of.x, of.a / (of.a + of.b)));
  const Arguments turned = {xla::Select(direct, of.a, of.b), xla::Select(direct, of.b, of.a),
                            xla::Select(direct, of.x, of.y), xla::Select(direct, of.y, of.x)};
  const auto fraction = ContinuedFraction(turned, precision, shape);
  if (!fraction.ok()) return fraction.status();
  const XlaOp part = turned.b * factor * *fraction;
  XlaOp result = xla::Select(direct, part, one - part);
  result = NumberWhere(xla::Not(valid), kNan, result);
  result = xla::Select(xla::Or(xla::Eq(x, zero), xla::Eq(x, one)), x, result);
  return NumberWhere(xla::Or(xla::Le(a, zero), xla::Le(b, zero)), kNan, result);
}

// Operands: a, b and x. Each is a scalar or has the common shape.
class BetaincLowering : public tensorflow::XlaOpKernel {
 public:
  using tensorflow::XlaOpKernel::XlaOpKernel;

  void Compile(XlaOpKernelContext* context) override {
    xla::Shape shape = xla::ShapeUtil::MakeShape(context->input_xla_type(0), {});
    constexpr const char* kNames[] = {"a", "b", "x"};
    int first = 0;  // the input that set `shape`
    for (int i = 0; i < 3; ++i) {
      const absl::StatusOr<xla::Shape> input = context->InputXlaShape(i);
      OP_REQUIRES_OK(context, input.status());
      if (input->dimensions_size() == 0) continue;
      OP_REQUIRES(context, shape.dimensions_size() == 0 || xla::ShapeUtil::Compatible(shape, *input),
                  absl::InvalidArgumentError(
                      absl::StrCat(type_string(), ": a, b and x must be scalars or have the same shape, got ",
                                   kNames[first], " ", shape.ToString(), " and ", kNames[i], " ", input->ToString())));
      shape = *input;
      first = i;
    }
    Values inputs;
    for (int i = 0; i < 3; ++i) inputs.push_back(Like(shape, context->Input(i)));
    const absl::StatusOr<XlaOp> result = IncompleteBeta(inputs[0], inputs[1], inputs[2], shape);
    OP_REQUIRES_OK(context, result.status());
    context->SetOutput(0, *result);
  }

 private:
  using Values = std::vector<XlaOp>;
  static XlaOp Like(const xla::Shape& shape, XlaOp value) {
    const absl::StatusOr<xla::Shape> own = value.builder()->GetShape(value);
    return own.ok() && own->dimensions_size() == 0 ? xla::Broadcast(value, shape.dimensions()) : value;
  }
};

REGISTER_XLA_OP(Name("Betainc").Device(kCompilationDevice), BetaincLowering)

}  // namespace
}  // namespace hpu
