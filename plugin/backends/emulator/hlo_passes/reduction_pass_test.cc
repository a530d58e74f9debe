// Tests of sums, maxima and products over rows against XLA.
#include "plugin/backends/emulator/hlo_passes/reduction_pass.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "plugin/backends/emulator/kernels/column_reduction.h"
#include "plugin/testing/kernel_harness.h"
#include "plugin/testing/recipe_harness.h"
#include "xla/hlo/builder/lib/arithmetic.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/util.h"

namespace hpu::emulator {
namespace reduction_pass_test {

using xla::XlaOp;

enum class Function { kSum, kSumOfSquares, kSumOfProducts, kMax, kProduct };

// Maps numbers of magnitude up to 1 to numbers near 1 or -1, so that products of thousands of numbers neither overflow
// nor underflow. Zeros, infinities and NaN stay.
XlaOp AboutOne(XlaOp x) {
  return xla::Sign(x) *
         (xla::ScalarLike(x, 1) + (xla::Abs(x) - xla::ScalarLike(x, 0.5)) * xla::ScalarLike(x, 1.0 / 64));
}

// Reduces arguments of `type` in float32 and rounds the result to the type.
xla::XlaComputation Reduction(const std::vector<int64_t>& dims, const std::vector<int64_t>& reduced, Function function,
                              xla::PrimitiveType type = xla::F32) {
  xla::XlaBuilder builder("reduction");
  const auto argument = [&](int64_t number, const char* name) {
    return xla::ConvertElementType(xla::Parameter(&builder, number, xla::ShapeUtil::MakeShape(type, dims), name),
                                   xla::F32);
  };
  XlaOp x = argument(0, "x");
  if (function == Function::kSumOfSquares) x = x * x;
  if (function == Function::kSumOfProducts) x = x * argument(1, "y");
  XlaOp initial = xla::Zero(&builder, xla::F32);
  xla::XlaComputation combine = xla::CreateScalarAddComputation(xla::F32, &builder);
  if (function == Function::kMax) {
    initial = xla::MinValue(&builder, xla::F32);
    combine = xla::CreateScalarMaxComputation(xla::F32, &builder);
  } else if (function == Function::kProduct) {
    x = AboutOne(x);
    initial = xla::One(&builder, xla::F32);
    combine = xla::CreateScalarMultiplyComputation(xla::F32, &builder);
  }
  xla::Tuple(&builder, {xla::ConvertElementType(xla::Reduce(x, initial, combine, reduced), type)});
  return builder.Build().value();
}

// Reduces booleans by `and` if `all`, else by `or`.
XlaOp AllOrAnyOf(XlaOp bools, bool all, const std::vector<int64_t>& reduced, bool initial) {
  const xla::XlaComputation combine = all ? xla::CreateScalarAndComputation(xla::PRED, bools.builder())
                                          : xla::CreateScalarOrComputation(xla::PRED, bools.builder());
  return xla::Reduce(bools, xla::ConstantR0<bool>(bools.builder(), initial), combine, reduced);
}

// Whether all elements exceed a bound, or any exceeds another bound; true in about half of the cases.
xla::XlaComputation AllOrAny(const std::vector<int64_t>& dims, const std::vector<int64_t>& reduced, bool all) {
  xla::XlaBuilder builder("all_or_any");
  const XlaOp x = xla::Parameter(&builder, 0, xla::ShapeUtil::MakeShape(xla::F32, dims), "x");
  int64_t numbers = 1;
  for (const int64_t dim : reduced) numbers *= dims[dim];
  const float bound = 1 - 1.4f / static_cast<float>(std::max<int64_t>(numbers, 1));
  xla::Tuple(&builder, {AllOrAnyOf(xla::Gt(x, xla::ScalarLike(x, all ? -bound : bound)), all, reduced, all)});
  return builder.Build().value();
}

constexpr Function kFunctions[] = {Function::kSum, Function::kSumOfSquares, Function::kSumOfProducts, Function::kMax,
                                   Function::kProduct};

struct Case {
  std::vector<int64_t> dims;
  std::vector<int64_t> reduced;
};

class ReductionPassTest : public testing::TestWithParam<Case> {};

TEST_P(ReductionPassTest, EqualsXla) {
  // XLA's code adds all elements sequentially, which loses more precision than adding rows.
  const bool all = GetParam().reduced.size() == GetParam().dims.size();
  for (const Function function : kFunctions) {
    const xla::XlaComputation computation = Reduction(GetParam().dims, GetParam().reduced, function);
    const double tolerance = function == Function::kMax ? 0 : all || function == Function::kProduct ? 1e-4 : 1e-5;
    ExpectSameWithKernels(computation, ArgumentsOf(computation), 1, tolerance);
  }
  for (const bool of_all : {false, true}) {
    const xla::XlaComputation computation = AllOrAny(GetParam().dims, GetParam().reduced, of_all);
    ExpectSameWithKernels(computation, ArgumentsOf(computation), 1, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, ReductionPassTest,
                         testing::Values(Case{{1024, 8}, {0}}, Case{{1, 8192}, {0}}, Case{{3, 2731}, {0}},
                                         Case{{5000, 17}, {0}}, Case{{70, 3000}, {0}}, Case{{9, 13, 7, 33}, {0, 1, 2}},
                                         Case{{9, 13, 7, 33}, {2, 0, 1}}, Case{{9, 13, 7, 33}, {1, 2}},
                                         Case{{9, 13, 7, 33}, {0, 1}}, Case{{50, 40, 9}, {1}}, Case{{2, 4, 4100}, {1}},
                                         Case{{1 << 15}, {0}}, Case{{32, 32, 32}, {0, 1, 2}},
                                         Case{{9, 13, 7, 80}, {0, 1, 2, 3}}, Case{{9000, 2}, {0}},
                                         Case{{91, 91}, {0, 1}}, Case{{3, 96, 96, 3}, {1, 2}},
                                         Case{{3, 51, 64, 3}, {2, 1}}, Case{{2, 77, 99, 7}, {1, 2}},
                                         Case{{2, 96, 96, 3, 2}, {1, 2}}));

// A reduction over adjacent dimensions, with or without dimensions before and after them. Has enough columns for a
// kernel, or few columns, so that the pass merges rows.
Case RandomCase(Dice* dice) {
  Case c;
  const auto add = [&](int64_t dimensions, int64_t low, int64_t high, bool reduced) {
    for (; dimensions > 0; --dimensions) {
      if (reduced) c.reduced.push_back(static_cast<int64_t>(c.dims.size()));
      c.dims.push_back(dice->Roll(low, high));
    }
  };
  const bool columns = dice->Roll(0, 3) > 0;
  add(dice->Roll(0, 2), 1, columns ? 3 : 2, false);
  const size_t first = c.dims.size();
  add(dice->Roll(1, 2), 1, 5, true);
  if (columns) {
    add(dice->Roll(0, 1), 1, 3, false);
    add(1, 8, 300, false);
    c.dims[first] *= 8192 / xla::Product(c.dims) + 1;
  } else {
    c.dims[first] = 8 * (1024 / (c.reduced.size() > 1 ? c.dims.back() : 1) + dice->Roll(1, 99));
    if (dice->Roll(0, 1) == 0) add(1, 2, 7, false);
  }
  if (dice->Roll(0, 1) == 0) std::swap(c.reduced.front(), c.reduced.back());
  return c;
}

class ReductionPassRandomTest : public testing::TestWithParam<int> {};

TEST_P(ReductionPassRandomTest, EqualsXla) {
  Dice dice(GetParam());
  const Case c = RandomCase(&dice);
  const xla::PrimitiveType type = dice.Roll(0, 2) == 0 ? xla::BF16 : xla::F32;
  const bool special = dice.Roll(0, 2) == 0;
  SCOPED_TRACE(testing::PrintToString(c.dims) + testing::PrintToString(c.reduced) + xla::PrimitiveType_Name(type));
  for (const Function function : kFunctions) {
    const xla::XlaComputation computation = Reduction(c.dims, c.reduced, function, type);
    std::vector<xla::Literal> arguments = ArgumentsOf(computation);
    if (special) SetSpecialNumbers(&arguments[0], &dice);
    ExpectSameWithKernels(computation, arguments, 1, type == xla::BF16 ? 1e-2 : 1e-4);
  }
  for (const bool all : {false, true}) {
    const xla::XlaComputation computation = AllOrAny(c.dims, c.reduced, all);
    ExpectSameWithKernels(computation, ArgumentsOf(computation), 1, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Random, ReductionPassRandomTest, testing::Range(0, 16));

TEST(ReductionPass, OfOneElement) {
  const std::vector<float> x = {-3}, y = {5};
  const float results[] = {-3, 9, -15, -3, -3};
  for (int i = 0; i < 5; ++i) {
    const ColumnReduction kernel{static_cast<ColumnReduction::Function>(i), {1, 1, 1}};
    std::vector<absl::string_view> operands = {BytesOf(x)};
    if (kFunctions[i] == Function::kSumOfProducts) operands.push_back(BytesOf(y));
    EXPECT_EQ(ElementsOf<float>(RunKernel(kernel.Spec(), operands, 4)), std::vector<float>{results[i]});
    const xla::XlaComputation computation = Reduction({1}, {0}, kFunctions[i]);
    ExpectSameWithKernels(computation, ArgumentsOf(computation), 0, 0);
  }
  using Element = ColumnReduction::Element;
  const ColumnReduction of_bfloat16{ColumnReduction::Function::kSum, {1, 1, 1}, Element::kBFloat16};
  const std::vector<uint16_t> three = {0x4040};
  EXPECT_EQ(ElementsOf<float>(RunKernel(of_bfloat16.Spec(), {BytesOf(three)}, 4)), std::vector<float>{3});
  const ColumnReduction of_bools{ColumnReduction::Function::kMax, {1, 1, 1}, Element::kBool};
  EXPECT_EQ(ElementsOf<float>(RunKernel(of_bools.Spec(), {BytesOf(std::vector<uint8_t>{1})}, 4)),
            std::vector<float>{1});
}

TEST(ReductionPass, RefusesNonReductions) {
  KernelSpec spec = ColumnReduction{ColumnReduction::Function::kSum, {1, 9000, 8}}.Spec();
  ASSERT_TRUE(MakeKernel(spec).ok());
  for (const auto& [parameter, value] : {std::pair(0, 5), std::pair(0, -1), std::pair(1, 3), std::pair(1, -1)}) {
    KernelSpec other = spec;
    other.parameters[parameter] = value;
    EXPECT_FALSE(MakeKernel(other).ok()) << parameter << " " << value;
  }
  spec.parameters.clear();
  EXPECT_FALSE(MakeKernel(spec).ok());
}

TEST(ReductionPass, OfNoElements) {
  for (const Case& c : {Case{{0, 9000}, {0}}, Case{{9000, 0}, {0}}, Case{{0}, {0}}, Case{{4, 0, 16}, {1}}}) {
    for (const Function function : kFunctions) {
      const xla::XlaComputation computation = Reduction(c.dims, c.reduced, function);
      ExpectSameWithKernels(computation, ArgumentsOf(computation), 0, 0);
    }
    for (const bool all : {false, true}) {
      const xla::XlaComputation computation = AllOrAny(c.dims, c.reduced, all);
      ExpectSameWithKernels(computation, ArgumentsOf(computation), 0, 0);
    }
  }
  EXPECT_FALSE(MakeKernel(ColumnReduction{ColumnReduction::Function::kSum, {1, 0, 8}}.Spec()).ok());
}

TEST(ReductionPass, OneBoolOfMany) {
  const std::vector<int64_t> dims = {2, 4500, 3};
  for (const bool all : {false, true}) {
    xla::XlaBuilder builder("bools");
    const XlaOp x = xla::Parameter(&builder, 0, xla::ShapeUtil::MakeShape(xla::PRED, dims), "x");
    xla::Tuple(&builder, {AllOrAnyOf(x, all, {1}, all)});
    const xla::XlaComputation computation = builder.Build().value();
    for (const int64_t row : {0, 1, 2047, 4499}) {
      std::vector<xla::Literal> arguments;
      arguments.emplace_back(xla::ShapeUtil::MakeShape(xla::PRED, dims));
      arguments[0].PopulateWithValue(all);
      arguments[0].Set<bool>({1, row, 2}, !all);
      std::vector<bool> expected(6, all);
      expected.back() = !all;
      EXPECT_EQ(ElementsOf<char>(ResultOf(computation, arguments)),
                std::vector<char>(expected.begin(), expected.end()));
    }
    EXPECT_EQ(KernelsOf(computation).size(), 1);
  }
}

// With another initial value, XLA's code must compute the result.
TEST(ReductionPass, LeavesBoolReductionsWithAnotherInitialValue) {
  xla::XlaBuilder builder("bools");
  const XlaOp x = xla::Parameter(&builder, 0, xla::ShapeUtil::MakeShape(xla::PRED, {9000, 16}), "x");
  xla::Tuple(&builder, {AllOrAnyOf(x, /*all=*/true, {0}, /*initial=*/false)});
  EXPECT_EQ(KernelsOf(builder.Build().value()).size(), 0);
}

class ReductionPassRowsTest : public testing::TestWithParam<Case> {};

TEST_P(ReductionPassRowsTest, EqualsXla) {
  for (const Function function :
       {Function::kSum, Function::kSumOfSquares, Function::kSumOfProducts, Function::kProduct}) {
    const xla::XlaComputation computation = Reduction(GetParam().dims, GetParam().reduced, function);
    ExpectSameWithKernels(computation, ArgumentsOf(computation), 1, 1e-4);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, ReductionPassRowsTest,
                         testing::Values(Case{{2, 8192}, {1}}, Case{{3, 96, 96, 3}, {1, 2, 3}},
                                         Case{{2, 3, 40, 8, 32}, {3, 2, 4}}, Case{{1, 70000}, {1}}));

TEST(ReductionPass, MaximaOfSpecialNumbers) {
  const xla::XlaComputation computation = Reduction({2000, 16}, {0}, Function::kMax);
  std::vector<xla::Literal> arguments = ArgumentsOf(computation);
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (int64_t row = 0; row < 2000; ++row) arguments[0].Set<float>({row, 0}, -kInfinity);
  arguments[0].Set<float>({700, 1}, std::numeric_limits<float>::quiet_NaN());
  arguments[0].Set<float>({3, 2}, kInfinity);
  ExpectSameAsEvaluator(computation, arguments, 1, 0);
}

TEST(ReductionPass, ProductsOfSpecialNumbers) {
  // Enough rows for several pieces.
  const ColumnReduction kernel{ColumnReduction::Function::kProduct, {1, 9000, 8}};
  constexpr float kInfinity = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> x(9000 * 8, 1);
  const auto set = [&](int64_t row, int64_t column, float value) { x[row * 8 + column] = value; };
  set(8999, 0, -2);
  set(5, 1, 0), set(8000, 1, -3);
  set(7, 2, kInfinity), set(4500, 2, -1);
  set(6000, 3, kNan);
  set(0, 4, 0), set(8999, 4, kInfinity);
  const std::vector<float> got = ElementsOf<float>(RunKernel(kernel.Spec(), {BytesOf(x)}, 8 * sizeof(float)));
  EXPECT_EQ(got[0], -2);
  EXPECT_TRUE(got[1] == 0 && std::signbit(got[1]));
  EXPECT_EQ(got[2], -kInfinity);
  EXPECT_TRUE(std::isnan(got[3]));
  EXPECT_TRUE(std::isnan(got[4]));
  for (int i = 5; i < 8; ++i) EXPECT_EQ(got[i], 1);
}

TEST(ReductionPass, LeavesUnsupportedUnchanged) {
  const auto kernels = [](const Case& c) { return KernelsOf(Reduction(c.dims, c.reduced, Function::kSum)).size(); };
  EXPECT_EQ(kernels({{1024, 8}, {1}}), 0) << "sums within short rows";
  EXPECT_EQ(kernels({{8209}, {0}}), 0) << "all elements, which do not divide into rows";
  EXPECT_EQ(kernels({{65, 8192}, {1}}), 0) << "many rows";
  EXPECT_EQ(kernels({{2, 8209}, {1}}), 0) << "rows that do not divide";
  EXPECT_EQ(kernels({{1000, 8}, {0, 1}}), 0) << "all elements, but few";
  EXPECT_EQ(kernels({{32, 8, 32, 8}, {0, 2}}), 0) << "dimensions apart";
  EXPECT_EQ(kernels({{10, 8}, {0}}), 0) << "few elements";
  EXPECT_EQ(kernels({{9001, 2}, {0}}), 0) << "few columns, and rows that do not merge";
}

}  // namespace reduction_pass_test
}  // namespace hpu::emulator
