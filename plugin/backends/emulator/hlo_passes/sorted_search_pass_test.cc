// Tests of searches as tf2xla emits them, against XLA.
#include "plugin/backends/emulator/hlo_passes/sorted_search_pass.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "plugin/backends/emulator/kernels/sorted_search.h"
#include "plugin/testing/kernel_harness.h"
#include "plugin/testing/recipe_harness.h"
#include "xla/hlo/builder/lib/arithmetic.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/xla_builder.h"

namespace hpu::emulator {
namespace sorted_search_pass_test {

using xla::XlaOp;

struct Case {
  int64_t rows, values, bounds;
  bool or_equal = false;
  xla::PrimitiveType type = xla::F32;
};

xla::XlaComputation SearchOf(const Case& c) {
  xla::XlaBuilder builder("search");
  const XlaOp x = xla::Parameter(&builder, 0, xla::ShapeUtil::MakeShape(c.type, {c.rows, c.values}), "x");
  const XlaOp y = xla::Parameter(&builder, 1, xla::ShapeUtil::MakeShape(c.type, {c.rows, c.bounds}), "y");
  const std::vector<int64_t> all{c.rows, c.values, c.bounds};
  const XlaOp values = xla::BroadcastInDim(x, all, {0, 1}), bounds = xla::BroadcastInDim(y, all, {0, 2});
  const XlaOp beyond = c.or_equal ? xla::Ge(values, bounds) : xla::Gt(values, bounds);
  xla::Tuple(&builder, {xla::Reduce(xla::ConvertElementType(beyond, xla::S32), xla::Zero(&builder, xla::S32),
                                    xla::CreateScalarAddComputation(xla::S32, &builder), {2})});
  return builder.Build().value();
}

// Few different values, float32, so that many are equal, optionally with some NaN. Other types have the values too.
xla::Literal Numbers(const Case& c, int64_t size, Dice* dice, bool nan) {
  xla::Literal numbers(xla::ShapeUtil::MakeShape(xla::F32, {c.rows, size}));
  for (float& number : numbers.data<float>()) {
    number = static_cast<float>(dice->Roll(-40, 40)) / 2;
    if (number == -20) number = -0.0f;
    if (nan && number == 20) number = std::numeric_limits<float>::quiet_NaN();
    if (nan && number == 19) number = std::numeric_limits<float>::infinity();
  }
  return numbers;
}

void SortRows(xla::Literal* numbers, int64_t size) {
  const auto data = numbers->data<float>();
  for (size_t i = 0; i < data.size(); i += size) std::sort(data.begin() + i, data.begin() + i + size);
}

class SortedSearchPassTest : public testing::TestWithParam<int> {};

TEST_P(SortedSearchPassTest, EqualsXla) {
  Dice dice(GetParam());
  Case c{dice.Roll(1, 4), dice.Roll(1, 90), dice.Roll(8, 90)};
  c.or_equal = dice.Roll(0, 1) == 1;
  c.type = std::vector{xla::F32, xla::S32, xla::F64, xla::S64, xla::S16, xla::BF16}[dice.Roll(0, 5)];
  c.rows += 16384 / (c.rows * c.values * c.bounds) * c.rows;
  SCOPED_TRACE(testing::PrintToString(std::vector<int64_t>{c.rows, c.values, c.bounds}));
  const bool nan = xla::primitive_util::IsFloatingPointType(c.type);
  // Sorted or unsorted, sometimes with a NaN.
  xla::Literal bounds = Numbers(c, c.bounds, &dice, /*nan=*/false);
  if (dice.Roll(0, 3) > 0) SortRows(&bounds, c.bounds);
  if (nan && dice.Roll(0, 2) == 0) {
    bounds.data<float>()[dice.Roll(0, c.rows * c.bounds - 1)] = std::numeric_limits<float>::quiet_NaN();
  }
  std::vector<xla::Literal> arguments;
  arguments.push_back(Numbers(c, c.values, &dice, nan).Convert(c.type).value());
  arguments.push_back(bounds.Convert(c.type).value());
  ExpectSameWithKernels(SearchOf(c), arguments, 1, 0);
}

INSTANTIATE_TEST_SUITE_P(Random, SortedSearchPassTest, testing::Range(0, 36));

// Enough values per row that several threads share a row.
TEST(SortedSearchPass, OfManyValuesInRowsOfWhichOneIsNotSorted) {
  Dice dice(1);
  const Case c{2, 9001, 11};
  std::vector<xla::Literal> arguments;
  arguments.push_back(Numbers(c, c.values, &dice, /*nan=*/true));
  arguments.push_back(Numbers(c, c.bounds, &dice, /*nan=*/false));
  SortRows(&arguments[1], c.bounds);
  std::swap(arguments[1].data<float>()[0], arguments[1].data<float>()[c.bounds - 1]);
  ExpectSameWithKernels(SearchOf(c), arguments, 1, 0);
}

TEST(SortedSearchPass, OfOneElement) {
  for (const float value : {-1.0f, 0.5f, 2.0f, std::numeric_limits<float>::quiet_NaN()}) {
    const std::vector<float> values = {value}, bounds = {0.5f};
    for (const bool or_equal : {false, true}) {
      const SortedSearch kernel{NumberType::kFloat32, or_equal, 1, 1, 1};
      const auto place = ElementsOf<int32_t>(RunKernel(kernel.Spec(), {BytesOf(values), BytesOf(bounds)}, 4));
      EXPECT_EQ(place, std::vector<int32_t>{or_equal ? value >= 0.5f : value > 0.5f}) << value;
    }
  }
  const Case one{1, 1, 1};
  const xla::XlaComputation computation = SearchOf(one);
  ExpectSameWithKernels(computation, ArgumentsOf(computation), 0, 0);
}

TEST(SortedSearchPass, RefusesOtherParameters) {
  EXPECT_TRUE(MakeKernel(SortedSearch{NumberType::kInt32, false, 2, 3, 4}.Spec()).ok());
  EXPECT_FALSE(MakeKernel(SortedSearch{NumberType{kNumberTypes}, false, 2, 3, 4}.Spec()).ok()) << "another type";
  EXPECT_FALSE(MakeKernel(SortedSearch{NumberType::kInt32, false, 2, 3, 0}.Spec()).ok()) << "no bounds";
  EXPECT_FALSE(MakeKernel(SortedSearch{NumberType::kInt32, false, 2, 0, 3}.Spec()).ok()) << "no values";
  EXPECT_FALSE(MakeKernel(SortedSearch{NumberType::kInt32, false, 2, 3, int64_t{1} << 31}.Spec()).ok())
      << "too many bounds";
}

TEST(SortedSearchPass, LeavesUnsupportedUnchanged) {
  const auto count = [](const Case& c) { return KernelsOf(SearchOf(c)).size(); };
  EXPECT_EQ(count({4, 100, 100}), 1);
  EXPECT_EQ(count({4, 10, 10}), 0) << "few comparisons";
  EXPECT_EQ(count({40, 100, 7}), 0) << "few bounds";
  for (const Case& none : {Case{4, 100, 0}, Case{4, 0, 100}, Case{0, 100, 100}}) {
    const xla::XlaComputation computation = SearchOf(none);
    ExpectSameWithKernels(computation, ArgumentsOf(computation), 0, 0);
  }
  EXPECT_EQ(count({4, 100, 100, false, xla::F64}), 1);
  EXPECT_EQ(count({4, 100, 100, false, xla::U64}), 0) << "uint64";
}

}  // namespace sorted_search_pass_test
}  // namespace hpu::emulator
