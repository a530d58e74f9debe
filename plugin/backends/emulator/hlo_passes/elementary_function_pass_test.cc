// Tests of elementary functions against the C library in double precision, and against XLA.
#include "plugin/backends/emulator/hlo_passes/elementary_function_pass.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <numeric>
#include <random>

#include "plugin/backends/emulator/kernels/elementary_function.h"
#include "plugin/testing/kernel_harness.h"
#include "plugin/testing/recipe_harness.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/lib/math.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/util.h"

namespace hpu::emulator {
namespace elementary_function_pass_test {

using xla::XlaOp;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

struct Function {
  const char* name;
  XlaOp (*op)(XlaOp, XlaOp);
  double (*exact)(double, double);
  bool of_two = false;
  int units = 3;  // maximum error in units in the last place
};

const Function kFunctions[] = {
    {"sine", [](XlaOp x, XlaOp) { return xla::Sin(x); }, [](double x, double) { return std::sin(x); }},
    {"cosine", [](XlaOp x, XlaOp) { return xla::Cos(x); }, [](double x, double) { return std::cos(x); }},
    {"arcsine", [](XlaOp x, XlaOp) { return xla::Asin(x); }, [](double x, double) { return std::asin(x); }, false, 4},
    {"arccosine", [](XlaOp x, XlaOp) { return xla::Acos(x); }, [](double x, double) { return std::acos(x); }, false, 4},
    {"arctangent", [](XlaOp x, XlaOp) { return xla::Atan(x); }, [](double x, double) { return std::atan(x); }},
    {"angle", [](XlaOp x, XlaOp y) { return xla::Atan2(x, y); }, [](double x, double y) { return std::atan2(x, y); },
     true, 4},
};

xla::XlaComputation ComputationOf(const Function& function, const xla::Shape& shape) {
  xla::XlaBuilder builder(function.name);
  const XlaOp x = xla::Parameter(&builder, 0, shape, "x");
  const XlaOp y = function.of_two ? xla::Parameter(&builder, 1, shape, "y") : x;
  xla::Tuple(&builder, {function.op(x, y)});
  return builder.Build().value();
}

int64_t CountCalls(const Function& function, const std::vector<int64_t>& dims, xla::PrimitiveType type = xla::F32) {
  return KernelsOf(ComputationOf(function, xla::ShapeUtil::MakeShape(type, dims))).size();
}

// Each pair of a few special numbers, then numbers with random bits, then normally distributed numbers. No special
// number and no number with random bits is denormal, because denormals may count as zeros.
std::pair<std::vector<float>, std::vector<float>> Operands() {
  const float special[] = {0.0f,       -0.0f,  1.0f,       -1.0f,       0.5f,        -0.5f,         2.0f,
                           3.0f,       -2.5f,  -3.0f,      16777215.0f, -8388609.0f, 8388607.5f,    1048576.0f,
                           1e10f,      -3e38f, 3e38f,      1e-30f,      -1e-30f,     1.175495e-38f, kInfinity,
                           -kInfinity, kNaN,   1.0000001f, 0.99999994f};
  std::vector<float> x, y;
  for (const float a : special) {
    for (const float b : special) {
      x.push_back(a);
      y.push_back(b);
    }
  }
  std::minstd_rand random(1);
  std::normal_distribution<float> normal;
  const auto any = [&random] {
    for (;;) {
      const uint32_t bits = static_cast<uint32_t>(random()) << 16 ^ static_cast<uint32_t>(random());
      float number;
      std::memcpy(&number, &bits, sizeof(number));
      if (std::isnormal(number)) return number;
    }
  };
  for (int i = 0; i < 20000; ++i) {
    x.push_back(any());
    y.push_back(any());
  }
  for (int i = 0; i < 40001; ++i) {
    x.push_back(normal(random) * (i % 2 == 0 ? 1 : 100));
    y.push_back(normal(random) * (i % 3 == 0 ? 1 : 30));
  }
  return {x, y};
}

// Distance from the exact value in units in the last place of float32.
double UnitsApart(float got, double exact) {
  const auto want = static_cast<float>(exact);
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got) ? 0 : 1e9;
  // Denormal results may be zeros.
  if (std::abs(exact) < 1.2e-38) return std::abs(got) < 1.2e-38 && std::signbit(got) == std::signbit(want) ? 0 : 1e9;
  if (std::isinf(want) || std::isinf(got)) return got == want ? 0 : 1e9;
  int exponent;
  std::frexp(exact, &exponent);
  return std::abs(got - exact) / std::ldexp(1.0, exponent - 24);
}

void ExpectExact(const Function& function, const std::vector<float>& x, const std::vector<float>& y) {
  const xla::Shape shape = xla::ShapeUtil::MakeShape(xla::F32, {static_cast<int64_t>(x.size())});
  std::vector<xla::Literal> arguments;
  arguments.push_back(xla::LiteralUtil::CreateR1<float>(x));
  if (function.of_two) arguments.push_back(xla::LiteralUtil::CreateR1<float>(y));
  const auto results = ElementsOf<float>(ResultOf(ComputationOf(function, shape), arguments));
  ASSERT_EQ(results.size(), x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    ASSERT_LE(UnitsApart(results[i], function.exact(x[i], y[i])), function.units)
        << function.name << " of " << x[i] << ", " << y[i] << ": " << results[i];
  }
}

class ElementaryFunctionPassTest : public testing::TestWithParam<Function> {};

TEST_P(ElementaryFunctionPassTest, IsExact) {
  const auto [x, y] = Operands();
  ASSERT_EQ(CountCalls(GetParam(), {static_cast<int64_t>(x.size())}), 1);
  ExpectExact(GetParam(), x, y);
}

TEST_P(ElementaryFunctionPassTest, EqualsXla) {
  for (const auto& dims : std::vector<std::vector<int64_t>>{{512}, {3, 171}, {5, 7, 1000}, {1, 40000}}) {
    const xla::XlaComputation computation = ComputationOf(GetParam(), xla::ShapeUtil::MakeShape(xla::F32, dims));
    ExpectSameWithKernels(computation, ArgumentsOf(computation), 1, 1e-5);
  }
}

// XLA also rounds intermediate results to bfloat16.
TEST_P(ElementaryFunctionPassTest, BFloat16EqualsFloat32) {
  const xla::Shape shape = xla::ShapeUtil::MakeShape(xla::BF16, {9, 301});
  const xla::XlaComputation computation = ComputationOf(GetParam(), shape);
  ASSERT_EQ(KernelsOf(computation).size(), 1);
  std::vector<xla::Literal> arguments = ArgumentsOf(computation), wide;
  for (const xla::Literal& argument : arguments) wide.push_back(argument.Convert(xla::F32).value());
  xla::Literal exact(xla::ShapeUtil::ChangeElementType(shape, xla::F32));
  const auto results = ElementsOf<float>(ResultOf(ComputationOf(GetParam(), exact.shape()), wide));
  ASSERT_EQ(static_cast<int64_t>(results.size()), exact.element_count());
  std::copy(results.begin(), results.end(), exact.data<float>().begin());
  const std::string bytes = ResultOf(computation, arguments);
  const std::string rounded = BytesOf(exact.Convert(xla::BF16).value());
  for (size_t i = 0; i < results.size(); ++i) {
    if (!std::isnan(results[i])) ASSERT_EQ(bytes.substr(2 * i, 2), rounded.substr(2 * i, 2)) << results[i];
  }
}

INSTANTIATE_TEST_SUITE_P(Each, ElementaryFunctionPassTest, testing::ValuesIn(kFunctions));

// A function of an array, or of a broadcast row or number, with elementwise work around it.
xla::XlaComputation RandomComputation(const Function& function, const std::vector<int64_t>& dims,
                                      xla::PrimitiveType type, Dice* dice) {
  xla::XlaBuilder builder(function.name);
  const XlaOp x = xla::Parameter(&builder, 0, xla::ShapeUtil::MakeShape(type, dims), "x");
  XlaOp y = x;
  if (function.of_two) {
    const std::vector<int64_t> kept(dims.end() - dice->Roll(0, static_cast<int64_t>(dims.size())), dims.end());
    y = xla::Parameter(&builder, 1, xla::ShapeUtil::MakeShape(type, kept), "y");
    y = xla::Broadcast(y, absl::MakeSpan(dims).first(dims.size() - kept.size()));
  }
  const bool before = dice->Roll(0, 1) == 0, after = dice->Roll(0, 1) == 0;
  const XlaOp result = function.op(before ? xla::Abs(x) : x, y);
  xla::Tuple(&builder, {after ? result * xla::ScalarLike(x, 0.5f) : result});
  return builder.Build().value();
}

TEST(ElementaryFunctionPass, RandomShapesEqualXla) {
  for (uint32_t seed = 0; seed < 40; ++seed) {
    Dice dice(seed);
    const Function& function = kFunctions[seed % std::size(kFunctions)];
    std::vector<int64_t> dims;
    for (int64_t rank = dice.Roll(1, 4); rank > 0; --rank) dims.push_back(dice.Roll(1, 30));
    dims[dice.Roll(0, dims.size() - 1)] *= 512 / xla::Product(dims) + 1;
    const xla::PrimitiveType type = dice.Roll(0, 2) == 0 ? xla::BF16 : xla::F32;
    SCOPED_TRACE(testing::PrintToString(dims) + function.name + xla::PrimitiveType_Name(type));
    const xla::XlaComputation computation = RandomComputation(function, dims, type, &dice);
    std::vector<xla::Literal> arguments = ArgumentsOf(computation);
    if (dice.Roll(0, 1) == 0) SetSpecialNumbers(&arguments.back(), &dice);
    ExpectSameWithKernels(computation, arguments, 1, type == xla::BF16 ? 1e-2 : 1e-5);
  }
}

TEST(ElementaryFunctionPass, OfOneElement) {
  const std::vector<float> x = {0.75f}, y = {0.25f};
  for (int64_t i = 0; i < ElementaryFunction::kFunctions; ++i) {
    ElementaryFunction kernel;
    kernel.function = static_cast<ElementaryFunction::Function>(i);
    const bool of_two = kernel.function == ElementaryFunction::Function::kArcTangent2;
    std::vector<absl::string_view> operands = {BytesOf(x)};
    if (of_two) operands.push_back(BytesOf(y));
    const double expected[] = {std::sin(x[0]),  std::cos(x[0]),  std::asin(x[0]),
                               std::acos(x[0]), std::atan(x[0]), std::atan2(x[0], y[0])};
    const auto result = ElementsOf<float>(RunKernel(kernel.Spec(), operands, sizeof(float)));
    ASSERT_EQ(result.size(), 1);
    EXPECT_NEAR(result[0], expected[i], 1e-6) << i;
  }
}

TEST(ElementaryFunctionPass, OfNoElements) {
  for (const Function& function : kFunctions) {
    const xla::XlaComputation computation = ComputationOf(function, xla::ShapeUtil::MakeShape(xla::F32, {0, 1024}));
    ExpectSameWithKernels(computation, ArgumentsOf(computation), 0, 0);
  }
}

TEST(ElementaryFunctionPass, LeavesUnsupportedUnchanged) {
  const Function& sine = kFunctions[0];
  EXPECT_EQ(CountCalls(sine, {2, 256}), 1);
  EXPECT_EQ(CountCalls(sine, {}), 0) << "a scalar";
  EXPECT_EQ(CountCalls(sine, {511}), 0) << "few elements";
  EXPECT_EQ(CountCalls(sine, {1024}, xla::F64), 0) << "float64";
  EXPECT_EQ(CountCalls(sine, {1024}, xla::C64), 0) << "complex numbers";
  const Function repeated{"repeated",
                          [](XlaOp x, XlaOp) {
                            const XlaOp scalar =
                                xla::Parameter(x.builder(), 1, xla::ShapeUtil::MakeShape(xla::F32, {}), "y");
                            return xla::Add(x, xla::Sin(xla::Broadcast(scalar, {1024})));
                          },
                          nullptr};
  const Function constant{"constant",
                          [](XlaOp x, XlaOp) {
                            std::vector<float> numbers(1024);
                            std::iota(numbers.begin(), numbers.end(), 0.0f);
                            return xla::Add(x, xla::Sin(xla::ConstantR1<float>(x.builder(), numbers)));
                          },
                          nullptr};
  const Function other{"other",
                       [](XlaOp x, XlaOp) {
                         return xla::Mul(xla::ScalarLike(x, 2),
                                         xla::Atan2(x, xla::Add(xla::ScalarLike(x, 1), xla::Sqrt(x))));
                       },
                       nullptr};
  EXPECT_EQ(CountCalls(repeated, {1024}), 0) << "a broadcast scalar";
  EXPECT_EQ(CountCalls(constant, {1024}), 0) << "a constant";
  const std::vector<KernelSpec> specs = KernelsOf(ComputationOf(other, xla::ShapeUtil::MakeShape(xla::F32, {1024})));
  ASSERT_EQ(specs.size(), 1);
  EXPECT_EQ(specs[0].parameters[0], static_cast<int64_t>(ElementaryFunction::Function::kArcTangent2));
}

TEST(ElementaryFunctionPass, RefusesOtherParameters) {
  EXPECT_TRUE(MakeKernel(ElementaryFunction().Spec()).ok());
  KernelSpec spec = ElementaryFunction().Spec();
  spec.parameters[0] = ElementaryFunction::kFunctions;
  EXPECT_FALSE(MakeKernel(spec).ok()) << "an unknown function";
  spec = ElementaryFunction().Spec();
  spec.parameters[2] = 0;
  EXPECT_FALSE(MakeKernel(spec).ok()) << "no elements";
}

}  // namespace elementary_function_pass_test
}  // namespace hpu::emulator
