// Tests of softmax against XLA.
#include "plugin/backends/emulator/hlo_passes/softmax_pass.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "plugin/backends/emulator/codegen/recipe_harness.h"
#include "plugin/backends/emulator/hlo_passes/kernel_harness.h"
#include "plugin/backends/emulator/kernels/softmax.h"
#include "xla/client/lib/arithmetic.h"
#include "xla/client/lib/constants.h"
#include "xla/client/xla_builder.h"

namespace hpu::emulator {
namespace softmax_pass_test {

using xla::XlaOp;

struct Case {
  std::vector<int64_t> dims;
  float factor = 1;         // of the argument, whose elements are in [-1, 1)
  bool keeps_dims = false;  // sums and maxima as arrays [.., 1]
  int64_t axis = -1;        // from the end
  bool shows_exp = false;   // the program uses the exponentials, too
  bool adds_one = false;    // adds 1 to the sums
  xla::PrimitiveType type = xla::F32;
  bool rounded = false;  // the argument is float32, rounded to the type
};

xla::XlaComputation SoftmaxOf(const Case& c) {
  xla::XlaBuilder builder("softmax");
  const int64_t rank = c.dims.size(), axis = rank + c.axis;
  std::vector<int64_t> kept_dims = c.dims, kept;
  kept_dims[axis] = 1;
  for (int64_t i = 0; i < rank; ++i) {
    if (i != axis) kept.push_back(i);
  }
  const auto over = [&](XlaOp (*of)(XlaOp, XlaOp, absl::Span<const int64_t>), XlaOp x, XlaOp row) {
    return c.keeps_dims ? of(x, xla::Reshape(row, kept_dims), {}) : of(x, row, kept);
  };
  const xla::PrimitiveType given = c.rounded ? xla::F32 : c.type;
  const XlaOp scaled = xla::Parameter(&builder, 0, xla::ShapeUtil::MakeShape(given, c.dims), "x") *
                       xla::ConstantR0WithType(&builder, given, c.factor);
  const XlaOp x = xla::ConvertElementType(scaled, c.type);
  const XlaOp maxima =
      xla::Reduce(x, xla::MinValue(&builder, c.type), xla::CreateScalarMaxComputation(c.type, &builder), {axis});
  const auto subtract = [](XlaOp a, XlaOp b, absl::Span<const int64_t> dims) { return xla::Sub(a, b, dims); };
  const auto divide = [](XlaOp a, XlaOp b, absl::Span<const int64_t> dims) { return xla::Div(a, b, dims); };
  const XlaOp exp = xla::Exp(over(subtract, x, maxima));
  // In float32, as TensorFlow adds.
  const xla::PrimitiveType wide = c.type == xla::BF16 ? xla::F32 : c.type;
  const XlaOp numbers = xla::ConvertElementType(exp, wide);
  XlaOp sums = xla::ConvertElementType(
      xla::Reduce(numbers, xla::Zero(&builder, wide), xla::CreateScalarAddComputation(wide, &builder), {axis}), c.type);
  if (c.adds_one) sums = sums + xla::ScalarLike(sums, 1);
  std::vector<XlaOp> results = {over(divide, exp, sums)};
  if (c.shows_exp) results.push_back(exp);
  xla::Tuple(&builder, results);
  return builder.Build().value();
}

class SoftmaxPassTest : public testing::TestWithParam<int> {};

TEST_P(SoftmaxPassTest, EqualsXla) {
  Dice dice(GetParam());
  Case c;
  for (int64_t rank = dice.Roll(0, 3); rank > 0; --rank) c.dims.push_back(dice.Roll(1, 4));
  c.dims.push_back(dice.Roll(16, 300));
  int64_t elements = 1;
  for (const int64_t size : c.dims) elements *= size;
  c.dims.insert(c.dims.begin(), (4096 + elements - 1) / elements);
  c.keeps_dims = dice.Roll(0, 1) == 0;
  c.factor = dice.Roll(0, 1) == 0 ? 1 : 100;
  c.type = dice.Roll(0, 2) == 0 ? xla::BF16 : xla::F32;
  c.rounded = c.type == xla::BF16 && dice.Roll(0, 1) == 0;
  SCOPED_TRACE(testing::PrintToString(c.dims));
  const xla::XlaComputation computation = SoftmaxOf(c);
  ExpectSameWithKernels(computation, ArgumentsOf(computation), 1, c.type == xla::F32 ? 1e-6 : 2e-2);
}

INSTANTIATE_TEST_SUITE_P(Random, SoftmaxPassTest, testing::Range(0, 16));

TEST(SoftmaxPass, OfOneRowAndOfManyThreads) {
  for (const std::vector<int64_t>& dims : {std::vector<int64_t>{5001}, {1, 4096}, {513, 129}, {20000, 17}}) {
    const xla::XlaComputation computation = SoftmaxOf({dims});
    ExpectSameWithKernels(computation, ArgumentsOf(computation), 1, 1e-6);
  }
}

// Compares each number relative to itself, even the smallest ones.
TEST(SoftmaxPass, SmallNumbersAreAsExactAsLargeOnes) {
  constexpr int64_t kColumns = 8000;
  const xla::XlaComputation computation = SoftmaxOf({{1, kColumns}});
  std::vector<xla::Literal> arguments = ArgumentsOf(computation);
  for (int64_t i = 0; i < kColumns; ++i) arguments[0].Set<float>({0, i}, -static_cast<float>(i) / 100);
  const auto got = ElementsOf<float>(ResultOf(computation, arguments));
  ASSERT_EQ(got.size(), kColumns);
  double sum = 0;
  for (int64_t i = 0; i < kColumns; ++i) sum += std::exp(static_cast<double>(arguments[0].Get<float>({0, i})));
  for (int64_t i = 0; i < kColumns; ++i) {
    const double want = std::exp(static_cast<double>(arguments[0].Get<float>({0, i}))) / sum;
    ASSERT_NEAR(got[i] / want, 1, 5e-7) << i;
  }
}

// The result is rounded once: it is within half a unit in the last of 8 bits.
TEST(SoftmaxPass, RoundsToTheNearestBFloat16) {
  constexpr int64_t kColumns = 5000;
  const xla::XlaComputation computation = SoftmaxOf({{1, kColumns}, 1, false, -1, false, false, xla::BF16});
  const std::vector<xla::Literal> arguments = ArgumentsOf(computation);
  const auto got = ElementsOf<xla::bfloat16>(ResultOf(computation, arguments));
  ASSERT_EQ(got.size(), kColumns);
  const auto power = [&](int64_t i) { return std::exp(static_cast<double>(arguments[0].Get<xla::bfloat16>({0, i}))); };
  double sum = 0;
  for (int64_t i = 0; i < kColumns; ++i) sum += power(i);
  for (int64_t i = 0; i < kColumns; ++i) {
    ASSERT_NEAR(static_cast<double>(got[i]) / (power(i) / sum), 1, 1.001 / 256) << i;
  }
}

TEST(SoftmaxPass, SpecialNumbers) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const xla::XlaComputation computation = SoftmaxOf({{100, 70}});
  std::vector<xla::Literal> arguments = ArgumentsOf(computation);
  xla::Literal& x = arguments[0];
  for (int64_t i = 1; i < 70; ++i) x.Set<float>({0, i}, -kInfinity);  // a mask that leaves one element
  for (int64_t i = 0; i < 70; ++i) x.Set<float>({1, i}, -kInfinity);
  for (int64_t i = 0; i < 70; ++i) x.Set<float>({2, i}, i % 2 == 0 ? 3e38f : -3e38f);
  x.Set<float>({3, 69}, kInfinity);
  x.Set<float>({4, 0}, std::numeric_limits<float>::quiet_NaN());
  ExpectSameAsEvaluator(computation, arguments, 1, 1e-6);
}

// A program that also computes log_softmax of the same argument; XLA merges the common part later.
TEST(SoftmaxPass, BesideWhatBeginsAlike) {
  xla::XlaBuilder builder("softmax");
  const XlaOp x = xla::Parameter(&builder, 0, xla::ShapeUtil::MakeShape(xla::F32, {64, 64}), "x");
  const auto reduce = [&](XlaOp of, XlaOp initial, const xla::XlaComputation& function) {
    return xla::Reduce(of, initial, function, {1});
  };
  const auto difference = [&] {
    const XlaOp min = xla::MinValue(&builder, xla::F32);
    return xla::Sub(x, reduce(x, min, xla::CreateScalarMaxComputation(xla::F32, &builder)), {0});
  };
  const auto sums = [&](XlaOp exp) {
    return reduce(exp, xla::Zero(&builder, xla::F32), xla::CreateScalarAddComputation(xla::F32, &builder));
  };
  const XlaOp exp = xla::Exp(difference()), shifted = difference();
  xla::Tuple(&builder, {xla::Div(exp, sums(exp), {0}), xla::Sub(shifted, xla::Log(sums(xla::Exp(difference()))), {0})});
  const xla::XlaComputation computation = builder.Build().value();
  EXPECT_EQ(CountKernels(computation, Softmax().Spec().name), 1);
  ExpectSameAsXla(computation, ArgumentsOf(computation), 1e-6);
}

TEST(SoftmaxPass, LeavesTheRest) {
  const auto kernels = [](const Case& c) {
    const std::vector<KernelSpec> specs = KernelsOf(SoftmaxOf(c));
    return std::count_if(specs.begin(), specs.end(),
                         [](const KernelSpec& s) { return s.name == Softmax().Spec().name; });
  };
  EXPECT_EQ(kernels({{64, 64}}), 1);
  EXPECT_EQ(kernels({{64, 64}, 1, false, -1, false, false, xla::BF16, /*rounded=*/true}), 1);
  EXPECT_EQ(kernels({{1, 1}}), 0) << "one element";
  EXPECT_EQ(kernels({{0, 64}}), 0) << "no elements";
  EXPECT_EQ(kernels({{64, 0}}), 0) << "rows without elements";
  EXPECT_EQ(kernels({{10, 20}}), 0) << "few elements";
  EXPECT_EQ(kernels({{9000, 15}}), 0) << "short rows";
  EXPECT_EQ(kernels({{64, 64, 8}, 1, false, -2}), 0) << "another dimension";
  EXPECT_EQ(kernels({{64, 64}, 1, false, -1, true}), 0) << "the exponentials are wanted, too";
  EXPECT_EQ(kernels({{64, 64}, 1, false, -1, false, true}), 0) << "other sums";
  EXPECT_EQ(kernels({{64, 64}, 1, false, -1, false, false, xla::F64}), 0) << "float64";
}

}  // namespace softmax_pass_test
}  // namespace hpu::emulator
