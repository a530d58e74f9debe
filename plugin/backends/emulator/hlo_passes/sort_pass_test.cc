// Tests of sorts as tf2xla and XLA's builders emit them, against XLA.
#include "plugin/backends/emulator/hlo_passes/sort_pass.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "plugin/backends/emulator/kernels/sort.h"
#include "plugin/testing/kernel_harness.h"
#include "plugin/testing/recipe_harness.h"
#include "xla/hlo/builder/lib/comparators.h"
#include "xla/hlo/builder/lib/sorting.h"
#include "xla/hlo/builder/xla_builder.h"

namespace hpu::emulator {
namespace sort_pass_test {

using xla::XlaOp;

constexpr int64_t kFirst = Sort::kKeys;

struct Case {
  std::vector<int64_t> dims;
  int64_t axis = 0;
  bool descending = false;
  xla::PrimitiveType type = xla::F32;
  bool indices = false;                    // sorts positions with the keys
  std::optional<xla::PrimitiveType> with;  // sorts another array with the keys
  bool around = false;                     // sorts -x along another dimension, as tf.sort does
  int64_t count = 0;                       // number of elements of the results; 0: all
  int64_t first = 0;                       // which result is the program's first
};

XlaOp Turn(const XlaOp& x, const Case& c) {
  std::vector<int64_t> order(c.dims.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::swap(order[c.axis], order.back());
  return xla::Transpose(x, order);
}

xla::XlaComputation SortOf(const Case& c) {
  xla::XlaBuilder builder("sort");
  const xla::Shape shape = xla::ShapeUtil::MakeShape(c.type, c.dims);
  XlaOp x = xla::Parameter(&builder, 0, shape, "x");
  const int64_t axis = c.around ? c.dims.size() - 1 : c.axis;
  if (c.around) x = Turn(xla::Neg(x), c);
  std::vector<XlaOp> operands{x};
  std::vector<xla::PrimitiveType> types{c.type};
  if (c.indices) {
    xla::Shape indices = builder.GetShape(x).value();
    indices.set_element_type(xla::S32);
    operands.push_back(xla::Iota(&builder, indices, axis));
    types.push_back(xla::S32);
  }
  if (c.with.has_value()) {
    operands.push_back(xla::Parameter(&builder, 1, xla::ShapeUtil::ChangeElementType(shape, *c.with), "y"));
    types.push_back(*c.with);
  }
  const XlaOp sorted = xla::Sort(
      operands,
      c.descending ? xla::CreateScalarGtComputation(types, &builder) : xla::CreateScalarLtComputation(types, &builder),
      axis, /*is_stable=*/true);
  std::vector<XlaOp> results;
  for (size_t i = 0; i < operands.size(); ++i) {
    XlaOp result = operands.size() == 1 ? sorted : xla::GetTupleElement(sorted, i);
    if (c.count > 0) result = xla::SliceInDim(result, 0, c.count, 1, axis);
    if (c.around) result = Turn(i == 0 ? xla::Neg(result) : result, c);
    results.push_back(result);
  }
  std::rotate(results.begin(), results.begin() + c.first, results.end());
  xla::Tuple(&builder, results);
  return builder.Build().value();
}

std::vector<KernelSpec> SortsOf(const xla::XlaComputation& computation) {
  std::vector<KernelSpec> specs = KernelsOf(computation);
  specs.erase(
      std::remove_if(specs.begin(), specs.end(), [](const KernelSpec& s) { return s.name != Sort().Spec().name; }),
      specs.end());
  return specs;
}

int64_t CountSorts(const Case& c) { return SortsOf(SortOf(c)).size(); }

// For floats, few different numbers, with all kinds of NaN, infinities and zeros. For other types, random numbers.
xla::Literal Ties(const xla::Shape& shape, Dice* dice) {
  xla::Literal x(shape);
  const int64_t bytes = xla::ShapeUtil::ByteSizeOfPrimitiveType(shape.element_type());
  auto* data = static_cast<char*>(x.untyped_data());
  for (int64_t i = 0; i < xla::ShapeUtil::ElementsIn(shape); ++i) {
    static constexpr uint32_t kFloats[] = {0x7fa10000, 0x00000000, 0x80000000, 0x7f800000, 0xff800000, 0x7fc00000,
                                           0xffc00000, 0x3f800000, 0xbf800000, 0x00010000, 0x42280000, 0xc2280000};
    // bfloat16 arithmetic, which goes through float32, changes the last bits of a NaN.
    uint32_t bits = kFloats[dice->Roll(shape.element_type() == xla::BF16 ? 1 : 0, 11)];
    if (!xla::primitive_util::IsFloatingPointType(shape.element_type())) bits = dice->Roll(0, 1 << 30) * 4;
    if (shape.element_type() == xla::PRED) bits = dice->Roll(0, 1) << 24;
    std::memcpy(data + i * bytes, reinterpret_cast<const char*>(&bits) + 4 - std::min<int64_t>(bytes, 4),
                std::min<int64_t>(bytes, 4));
  }
  return x;
}

class SortPassTest : public testing::TestWithParam<int> {};

TEST_P(SortPassTest, EqualsXla) {
  Dice dice(GetParam());
  static constexpr xla::PrimitiveType kTypes[] = {xla::F32, xla::BF16, xla::S32, xla::U32, xla::S8, xla::U8, xla::PRED};
  Case c;
  c.type = kTypes[dice.Roll(0, 6)];
  for (int64_t rank = dice.Roll(1, 3); rank > 0; --rank) c.dims.push_back(dice.Roll(1, 5));
  c.axis = dice.Roll(0, c.dims.size() - 1);
  c.dims[c.axis] = dice.Roll(16, 60);
  c.descending = dice.Roll(0, 1) == 1;
  c.indices = dice.Roll(0, 1) == 1;
  if (dice.Roll(0, 3) == 0) c.with = kTypes[dice.Roll(0, 6)];
  c.around = !c.with.has_value() && c.type != xla::PRED && dice.Roll(0, 1) == 1;
  c.count = dice.Roll(0, 2) == 0 ? dice.Roll(1, c.dims[c.axis]) : 0;
  SCOPED_TRACE(testing::PrintToString(c.dims) + xla::PrimitiveType_Name(c.type));
  const int64_t results = 1 + (c.indices ? 1 : 0) + (c.with.has_value() ? 1 : 0);
  for (c.first = 0; c.first < results; ++c.first) {
    const xla::XlaComputation computation = SortOf(c);
    std::vector<xla::Literal> arguments;
    arguments.push_back(Ties(xla::ShapeUtil::MakeShape(c.type, c.dims), &dice));
    if (c.with.has_value()) arguments.push_back(Ties(xla::ShapeUtil::MakeShape(*c.with, c.dims), &dice));
    ExpectSameAsEvaluator(computation, arguments, 1, 0);
    ExpectSameAsXla(computation, arguments, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Random, SortPassTest, testing::Range(0, 40));

TEST(SortPass, ComputesOnlyTheFirstElements) {
  Case c{{40, 300}, 1, true};
  c.indices = true;
  c.count = 7;
  const std::vector<KernelSpec> specs = SortsOf(SortOf(c));
  ASSERT_EQ(specs.size(), 1);
  EXPECT_EQ(specs[0].parameters, (std::vector<int64_t>{Sort::kFloat, 4, 1, 40, 300, 1, 7, kFirst, Sort::kIndices}));
}

TEST(SortPass, LeavesNegationsAndTranspositionsOut) {
  Case c{{20, 6, 30}, 1, true};
  c.around = true;
  std::vector<KernelSpec> specs = KernelsOf(SortOf(c));
  ASSERT_EQ(specs.size(), 1);
  EXPECT_EQ(specs[0].parameters, (std::vector<int64_t>{Sort::kFloat, 4, 0, 20, 6, 30, 6, kFirst}));
}

// Positions that no result needs are not computed.
TEST(SortPass, ComputesOnlyUsedResults) {
  xla::XlaBuilder builder("top");
  const XlaOp x = xla::Parameter(&builder, 0, xla::ShapeUtil::MakeShape(xla::F32, {8, 64}), "x");
  xla::Tuple(&builder, {xla::GetTupleElement(xla::TopK(x, 64, xla::S32), 0)});
  const std::vector<KernelSpec> specs = SortsOf(builder.Build().value());
  ASSERT_EQ(specs.size(), 1);
  EXPECT_EQ(specs[0].parameters, (std::vector<int64_t>{Sort::kFloat, 4, 1, 8, 64, 1, 64, kFirst}));
}

// The order of tf2xla's Unique: by number, then by position.
TEST(SortPass, AcceptsIotaAsSecondKey) {
  xla::XlaBuilder builder("unique");
  const XlaOp x = xla::Parameter(&builder, 0, xla::ShapeUtil::MakeShape(xla::S32, {90}), "x");
  const XlaOp indices = xla::Iota(&builder, xla::ShapeUtil::MakeShape(xla::S32, {90}), 0);
  const XlaOp sorted =
      xla::Sort({x, indices},
                xla::CreateScalarComparisonComputation("lt", {xla::S32, xla::S32}, {xla::Lt, xla::Lt}, &builder), 0);
  xla::Tuple(&builder, {xla::GetTupleElement(sorted, 1)});
  const xla::XlaComputation computation = builder.Build().value();
  Dice dice(1);
  xla::Literal numbers(xla::ShapeUtil::MakeShape(xla::S32, {90}));
  for (int32_t& number : numbers.data<int32_t>()) number = static_cast<int32_t>(dice.Roll(-3, 3));
  std::vector<xla::Literal> arguments;
  arguments.push_back(std::move(numbers));
  ExpectSameAsEvaluator(computation, arguments, 1, 0);
}

// Number of sort kernels for a sort by `order`, whose operands are exchanged if `exchanged`.
int64_t CountSortsBy(XlaOp (*order)(XlaOp, XlaOp), bool exchanged) {
  xla::XlaBuilder comparator("order");
  const xla::Shape scalar = xla::ShapeUtil::MakeShape(xla::F32, {});
  const XlaOp a = xla::Parameter(&comparator, exchanged ? 1 : 0, scalar, "a");
  const XlaOp b = xla::Parameter(&comparator, exchanged ? 0 : 1, scalar, "b");
  order(a, b);
  xla::XlaBuilder builder("sort");
  const XlaOp x = xla::Parameter(&builder, 0, xla::ShapeUtil::MakeShape(xla::F32, {100}), "x");
  xla::Tuple(&builder, {xla::Sort({x}, comparator.Build().value(), 0)});
  return SortsOf(builder.Build().value()).size();
}

TEST(SortPass, LeavesUnsupportedUnchanged) {
  for (const Case& c : {Case{{0}}, Case{{0, 100}, 1}, Case{{100, 0}}, Case{{1}}}) {
    const xla::XlaComputation computation = SortOf(c);
    ExpectSameWithKernels(computation, ArgumentsOf(computation), 0, 0);
  }
  EXPECT_EQ(CountSorts({{16}}), 1);
  EXPECT_EQ(CountSorts({{15}}), 0) << "few elements";
  EXPECT_EQ(CountSorts({{100, 1}, 1}), 0) << "rows of one element";
  EXPECT_EQ(CountSorts({{100}, 0, false, xla::F64}), 0) << "float64";
  EXPECT_EQ(CountSorts({{100}, 0, false, xla::S64}), 0) << "int64";
  EXPECT_EQ(CountSortsBy([](XlaOp a, XlaOp b) { return xla::LtTotalOrder(a, b); }, false), 1);
  EXPECT_EQ(CountSortsBy([](XlaOp a, XlaOp b) { return xla::LtTotalOrder(a, b); }, true), 0) << "operands exchanged";
  EXPECT_EQ(CountSortsBy([](XlaOp a, XlaOp b) { return xla::Lt(a, b); }, false), 0) << "no total order";
  EXPECT_EQ(CountSortsBy([](XlaOp a, XlaOp b) { return xla::LtTotalOrder(xla::Abs(a), xla::Abs(b)); }, false), 0)
      << "by magnitude";
}

}  // namespace sort_pass_test
}  // namespace hpu::emulator
