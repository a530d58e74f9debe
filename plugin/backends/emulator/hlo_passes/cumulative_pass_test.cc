// Tests of cumulative sums and products against XLA.
#include "plugin/backends/emulator/hlo_passes/cumulative_pass.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>

#include "plugin/backends/emulator/kernels/cumulative.h"
#include "plugin/testing/kernel_harness.h"
#include "plugin/testing/recipe_harness.h"
#include "xla/hlo/builder/lib/arithmetic.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/xla_builder.h"

namespace hpu::emulator {
namespace cumulative_pass_test {

struct Case {
  std::vector<int64_t> dims;
  int64_t axis = 0;
  int64_t before = 0;  // padding
  int64_t after = 0;
  Cumulative::Function function = Cumulative::Function::kAdd;
};

// log(e^a + e^b), as tf2xla writes it.
xla::XlaComputation CreateLogAddExp(xla::PrimitiveType type) {
  xla::XlaBuilder builder("log_add_exp");
  const xla::Shape scalar = xla::ShapeUtil::MakeShape(type, {});
  const xla::XlaOp x = xla::Parameter(&builder, 0, scalar, "x"), y = xla::Parameter(&builder, 1, scalar, "y");
  const xla::XlaOp greater = xla::Max(x, y);
  const xla::XlaOp exponent =
      xla::Select(xla::Not(xla::IsFinite(greater)), xla::Neg(xla::Abs(greater)), xla::Sub(xla::Min(x, y), greater));
  xla::Add(greater, xla::Log1p(xla::Exp(exponent)));
  return builder.Build().value();
}

xla::XlaComputation Combine(Cumulative::Function function, xla::PrimitiveType type, xla::XlaBuilder* builder) {
  if (function == Cumulative::Function::kLogAddExp) return CreateLogAddExp(type);
  return function == Cumulative::Function::kAdd ? xla::CreateScalarAddComputation(type, builder)
                                                : xla::CreateScalarMultiplyComputation(type, builder);
}

xla::XlaOp Neutral(Cumulative::Function function, xla::PrimitiveType type, xla::XlaBuilder* builder) {
  if (function == Cumulative::Function::kLogAddExp) return xla::MinValue(builder, type);
  return function == Cumulative::Function::kAdd ? xla::Zero(builder, type) : xla::One(builder, type);
}

xla::XlaComputation Sums(const Case& c, xla::PrimitiveType type = xla::F32) {
  xla::XlaBuilder builder("sums");
  const xla::XlaOp x = xla::Parameter(&builder, 0, xla::ShapeUtil::MakeShape(type, c.dims), "x");
  std::vector<int64_t> window(c.dims.size(), 1);
  const std::vector<int64_t> ones = window;
  window[c.axis] = c.dims[c.axis];
  std::vector<std::pair<int64_t, int64_t>> padding(c.dims.size());
  padding[c.axis] = {c.before, c.after};
  const xla::XlaOp sums = xla::ReduceWindowWithGeneralPadding(
      x, Neutral(c.function, type, &builder), Combine(c.function, type, &builder), window, ones, {}, {}, padding);
  xla::Tuple(&builder, {sums});
  return builder.Build().value();
}

class CumulativePassTest : public testing::TestWithParam<int> {};

TEST_P(CumulativePassTest, EqualsXla) {
  Dice dice(GetParam());
  Case c;
  for (int64_t rank = dice.Roll(1, 4); rank > 0; --rank) c.dims.push_back(dice.Roll(1, 4));
  c.axis = dice.Roll(0, c.dims.size() - 1);
  c.dims[c.axis] = dice.Roll(2, 30);
  // Small, because the evaluator sums every window separately.
  if (c.dims.size() == 1) c.dims = {dice.Roll(2, 5), dice.Roll(1000, 1100)};
  const int64_t padding = c.dims[c.axis] - dice.Roll(0, 1);
  (dice.Roll(0, 1) == 0 ? c.before : c.after) = padding;
  c.function = static_cast<Cumulative::Function>(dice.Roll(0, 2));
  SCOPED_TRACE(testing::PrintToString(c.dims));
  const xla::XlaComputation computation = Sums(c);
  // Larger results that begin with the neutral element are also padded by a kernel.
  EXPECT_EQ(CountKernels(computation, Cumulative().Spec().name), 1);
  ExpectSameWithKernels(computation, ArgumentsOf(computation), KernelsOf(computation).size(), 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Random, CumulativePassTest, testing::Range(0, 40));

// Many long sequences, compared with sums in float64, because the evaluator would be too slow.
TEST(CumulativePass, AddsExponentialsOfManySequences) {
  constexpr int64_t kOuter = 5, kSize = 130, kInner = 15;
  const xla::XlaComputation computation =
      Sums({{kOuter, kSize, kInner}, 1, kSize - 1, 0, Cumulative::Function::kLogAddExp});
  ASSERT_EQ(KernelsOf(computation).size(), 1);
  const std::vector<xla::Literal> arguments = ArgumentsOf(computation);
  const auto results = ElementsOf<float>(ResultOf(computation, arguments));
  ASSERT_EQ(results.size(), kOuter * kSize * kInner);
  const auto x = arguments[0].data<float>();
  for (int64_t sequence = 0; sequence < kOuter * kInner; ++sequence) {
    double sum = 0;
    for (int64_t i = 0; i < kSize; ++i) {
      const int64_t place = (sequence / kInner * kSize + i) * kInner + sequence % kInner;
      sum += std::exp(static_cast<double>(x[place]));
      ASSERT_NEAR(results[place], std::log(sum), 1e-5) << "element " << place;
    }
  }
}

TEST(CumulativePass, OfIntegers) {
  for (const auto function : {Cumulative::Function::kAdd, Cumulative::Function::kMultiply}) {
    for (const Case& c : {Case{{3, 40, 2}, 1, 39, 0, function}, Case{{50}, 0, 0, 50, function},
                          Case{{1, 20}, 0, 1, 0, function}, Case{{6, 20}, 0, 6, 0, function}}) {
      for (const xla::PrimitiveType type : {xla::S32, xla::S64}) {
        const xla::XlaComputation computation = Sums(c, type);
        ExpectSameWithKernels(computation, ArgumentsOf(computation), 1, 0);
      }
    }
  }
}

// The sums and products are of integers, because these are exact in any order.
TEST(CumulativePass, OfFloat64) {
  for (const Case& c : {Case{{3, 40, 2}, 1, 39, 0}, Case{{3, 40, 2}, 1, 0, 40}, Case{{1, 500}, 1, 499, 0},
                        Case{{5, 30}, 0, 4, 0}, Case{{2, 12}, 1, 11, 0, Cumulative::Function::kMultiply}}) {
    const xla::XlaComputation computation = Sums(c, xla::F64);
    Dice dice(4);
    std::vector<xla::Literal> arguments;
    arguments.push_back(xla::Literal(xla::ShapeUtil::MakeShape(xla::F64, c.dims)));
    for (double& number : arguments[0].data<double>())
      number = static_cast<double>((int64_t{1} << 40) + dice.Roll(-9, 9));
    if (c.function == Cumulative::Function::kMultiply) {
      for (double& number : arguments[0].data<double>()) number = static_cast<double>(dice.Roll(1, 9));
    }
    ExpectSameWithKernels(computation, arguments, 1, 0);
  }
  const xla::XlaComputation logs = Sums({{300, 2}, 0, 299, 0, Cumulative::Function::kLogAddExp}, xla::F64);
  ExpectSameWithKernels(logs, ArgumentsOf(logs), 1, 1e-14);
}

// Sums above 2^31 wrap around.
TEST(CumulativePass, LargeIntegersWrapAround) {
  const xla::XlaComputation computation = Sums({{5, 3}, 0, 4, 0}, xla::S32);
  std::vector<xla::Literal> arguments;
  arguments.push_back(xla::Literal(xla::ShapeUtil::MakeShape(xla::S32, {5, 3})));
  for (int32_t& number : arguments[0].data<int32_t>()) number = std::numeric_limits<int32_t>::max();
  ExpectSameWithKernels(computation, arguments, 1, 0);
}

TEST(CumulativePass, AddsExponentialsOfSpecialNumbers) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  // No positive infinity and no NaN: TensorFlow's kernel returns NaN after infinity, and ignores NaN.
  const float special[] = {0, -kInfinity, 1e30f, -1e30f, 88, -0.0f};
  for (const int64_t columns : {1, 20}) {
    Dice dice(columns);
    const xla::XlaComputation computation =
        Sums({{200 / columns, 4, columns}, 1, 3, 0, Cumulative::Function::kLogAddExp});
    xla::Literal x(xla::ShapeUtil::MakeShape(xla::F32, {200 / columns, 4, columns}));
    for (float& number : x.data<float>()) number = special[dice.Roll(0, 5)];
    std::vector<xla::Literal> arguments;
    arguments.push_back(std::move(x));
    ExpectSameAsEvaluator(computation, arguments, 1, 1e-5);
  }
}

// The result for one element is the element.
TEST(CumulativePass, OfOneElement) {
  const std::vector<float> x = {0.75f};
  for (int64_t function = 0; function < Cumulative::kFunctions; ++function) {
    for (const bool reverse : {false, true}) {
      Cumulative kernel;
      kernel.function = static_cast<Cumulative::Function>(function);
      kernel.reverse = reverse;
      EXPECT_EQ(ElementsOf<float>(RunKernel(kernel.Spec(), {BytesOf(x)}, 4)), x) << function << reverse;
      const Case c = {{1}, 0, reverse ? 0 : 1, reverse ? 1 : 0, kernel.function};
      const xla::XlaComputation from_neutral = Sums(c);
      ExpectSameWithKernels(from_neutral, ArgumentsOf(from_neutral), 1, 1e-6);
    }
  }
  for (const auto function : {Cumulative::Function::kAdd, Cumulative::Function::kLogAddExp}) {
    const xla::XlaComputation computation = Sums({{1}, 0, 0, 0, function});
    ExpectSameWithKernels(computation, ArgumentsOf(computation), 0, 1e-6);
  }
}

TEST(CumulativePass, LeavesUnsupportedUnchanged) {
  EXPECT_EQ(KernelsOf(Sums({{7, 0}, 0, 6, 0})).size(), 0) << "no elements";
  EXPECT_EQ(KernelsOf(Sums({{7, 2}, 0, 5, 0})).size(), 0) << "a window shorter than the dimension";
  EXPECT_EQ(KernelsOf(Sums({{7, 2}, 0, 3, 3})).size(), 0) << "a window around the element";
  EXPECT_EQ(KernelsOf(Sums({{7, 2}, 0, 6, 0}, xla::U64)).size(), 0) << "uint64";
  Cumulative kernel;
  EXPECT_TRUE(MakeKernel(kernel.Spec()).ok());
  kernel.type = NumberType{kNumberTypes};
  EXPECT_FALSE(MakeKernel(kernel.Spec()).ok()) << "another type";
  kernel.type = NumberType::kInt32;
  kernel.function = Cumulative::Function::kLogAddExp;
  EXPECT_FALSE(MakeKernel(kernel.Spec()).ok()) << "a function that int32 lacks";
}

}  // namespace cumulative_pass_test
}  // namespace hpu::emulator
