// Tests of maxima, minima and their positions against XLA.
#include "plugin/backends/emulator/hlo_passes/extremum_pass.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "plugin/backends/emulator/kernels/extremum.h"
#include "plugin/testing/kernel_harness.h"
#include "plugin/testing/recipe_harness.h"
#include "xla/hlo/builder/lib/arithmetic.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/xla_builder.h"

namespace hpu::emulator {
namespace extremum_pass_test {

using xla::XlaOp;

struct Case {
  std::vector<int64_t> dims;
  std::vector<int64_t> reduced;
  bool place = false;
  bool is_min = false;
  xla::PrimitiveType type = xla::F32;
};

xla::XlaComputation ExtremumOf(const Case& c) {
  xla::XlaBuilder builder("extremum");
  const XlaOp x = xla::Parameter(&builder, 0, xla::ShapeUtil::MakeShape(c.type, c.dims), "x");
  XlaOp result;
  if (c.place) {
    const auto axis = static_cast<int>(c.reduced[0]);
    result = xla::ArgMinMax(x, xla::S32, axis, c.is_min);
  } else if (c.is_min) {
    result =
        xla::Reduce(x, xla::MaxValue(&builder, c.type), xla::CreateScalarMinComputation(c.type, &builder), c.reduced);
  } else {
    result =
        xla::Reduce(x, xla::MinValue(&builder, c.type), xla::CreateScalarMaxComputation(c.type, &builder), c.reduced);
  }
  xla::Tuple(&builder, {result});
  return builder.Build().value();
}

int64_t CountExtrema(const Case& c) {
  const std::vector<KernelSpec> specs = KernelsOf(ExtremumOf(c));
  return std::count_if(specs.begin(), specs.end(),
                       [](const KernelSpec& s) { return s.name == Extremum().Spec().name; });
}

// An array of few different numbers, so that many are equal, with zeros of both signs. With `special`, also contains
// NaN and infinities.
xla::Literal Ties(const xla::Shape& shape, Dice* dice, bool special) {
  xla::Literal x(xla::ShapeUtil::ChangeElementType(shape, xla::F32));
  for (float& value : x.data<float>()) {
    const int64_t roll = dice->Roll(0, special ? 60 : 40);
    value = static_cast<float>(roll % 5 - 4);
    if (roll == 7) value = 0.0f;
    if (roll == 12) value = -0.0f;
    if (roll == 50) value = std::numeric_limits<float>::quiet_NaN();
    if (roll == 51) value = std::numeric_limits<float>::infinity();
    if (roll == 52) value = -std::numeric_limits<float>::infinity();
  }
  return x.Convert(shape.element_type()).value();
}

// Compares the extrema or the positions of an array with ties. About half of the arrays for extrema also contain NaN
// and infinities. Does not compare the signs of zeros.
void ExpectEqualsXla(const Case& c, Dice* dice) {
  const xla::XlaComputation computation = ExtremumOf(c);
  const xla::Shape shape = xla::ShapeUtil::MakeShape(c.type, c.dims);
  std::vector<xla::Literal> arguments;
  arguments.push_back(Ties(shape, dice, /*special=*/!c.place && dice->Roll(0, 1) == 0));
  ExpectSameAsEvaluator(computation, arguments, 1, c.place ? 0 : 1e-30);
}

class ExtremumPassTest : public testing::TestWithParam<int> {};

TEST_P(ExtremumPassTest, EqualsXla) {
  Dice dice(GetParam());
  Case c;
  c.place = dice.Roll(0, 1) == 0;
  c.is_min = dice.Roll(0, 1) == 0;
  if (dice.Roll(0, 2) == 0) c.type = xla::BF16;
  const bool rows = dice.Roll(0, 1) == 0;
  for (int64_t rank = dice.Roll(1, 3); rank > 0; --rank) c.dims.push_back(dice.Roll(1, 5));
  c.reduced = {static_cast<int64_t>(c.dims.size())};
  c.dims.push_back(rows ? dice.Roll(16, 200) : dice.Roll(1, 70));
  if (!rows) c.dims.push_back(dice.Roll(8, 300));
  int64_t elements = 1;
  for (const int64_t size : c.dims) elements *= size;
  c.dims[0] *= (8 << 10) / elements + 2;
  // Maxima of columns have another kernel.
  if (!rows && !c.place && c.type == xla::F32) c.is_min = true;
  SCOPED_TRACE(testing::PrintToString(c.dims));
  ASSERT_EQ(CountExtrema(c), 1);
  ExpectEqualsXla(c, &dice);
}

INSTANTIATE_TEST_SUITE_P(Random, ExtremumPassTest, testing::Range(0, 24));

TEST(ExtremumPass, OfSeveralDimensions) {
  const xla::XlaComputation computation = ExtremumOf({{20, 10, 7, 33}, {3, 1, 2}});
  ExpectSameAsEvaluator(computation, ArgumentsOf(computation), 1, 0);
}

// Few long rows.
class ExtremumPassLongRowTest : public testing::TestWithParam<int> {};

TEST_P(ExtremumPassLongRowTest, EqualsXla) {
  Dice dice(GetParam());
  Case c;
  // Maxima of all elements have another kernel.
  c.place = dice.Roll(0, 1) == 0;
  c.is_min = !c.place || dice.Roll(0, 1) == 0;
  if (dice.Roll(0, 2) == 0) c.type = xla::BF16;
  c.dims = {dice.Roll(0, 1) == 0 ? dice.Roll(8192, 65'536) : dice.Roll(65'537, 140'000)};
  if (dice.Roll(0, 2) == 0) c.dims = {2, dice.Roll(65'530, 65'550)};
  c.reduced = {static_cast<int64_t>(c.dims.size()) - 1};
  SCOPED_TRACE(testing::PrintToString(c.dims));
  ExpectEqualsXla(c, &dice);
}

INSTANTIATE_TEST_SUITE_P(Random, ExtremumPassLongRowTest, testing::Range(0, 8));

TEST(ExtremumPass, PositionsOfInt64) {
  xla::XlaBuilder builder("positions");
  const XlaOp x = xla::Parameter(&builder, 0, xla::ShapeUtil::MakeShape(xla::F32, {100, 200}), "x");
  xla::Tuple(&builder, {xla::ArgMax(x, xla::S64, 1)});
  const xla::XlaComputation computation = builder.Build().value();
  EXPECT_EQ(KernelsOf(computation).size(), 1);
  ExpectSameAsEvaluator(computation, ArgumentsOf(computation), 1, 0);
}

TEST(ExtremumPass, RefusesOtherParameters) {
  const auto is_made = [](std::vector<int64_t> parameters) {
    return MakeKernel({Extremum().Spec().name, std::move(parameters)}).ok();
  };
  EXPECT_TRUE(is_made({2, 1, 1, 2, 3, 4}));
  EXPECT_FALSE(is_made({4, 0, 0, 2, 3, 4})) << "no function";
  EXPECT_FALSE(is_made({0, 2, 0, 2, 3, 4})) << "no type";
  EXPECT_FALSE(is_made({2, 0, 2, 2, 3, 4})) << "no type of positions";
  EXPECT_FALSE(is_made({0, 0, 0, 2, 0, 4})) << "no elements";
  EXPECT_FALSE(is_made({0, 0, 0, 2, 3})) << "too few";
}

TEST(ExtremumPass, LeavesTheRest) {
  EXPECT_EQ(CountExtrema({{1024, 16}, {1}, true}), 1);
  EXPECT_EQ(CountExtrema({{0, 1024}, {1}, true}), 0) << "no elements";
  EXPECT_EQ(CountExtrema({{1024, 0}, {1}}), 0) << "nothing to choose from";
  EXPECT_EQ(CountExtrema({{1}, {0}, true}), 0) << "one element";
  EXPECT_EQ(CountExtrema({{100, 20}, {1}, true}), 0) << "few elements";
  EXPECT_EQ(CountExtrema({{4096, 10}, {1}, true}), 0) << "short rows";
  EXPECT_EQ(CountExtrema({{4096, 4}, {0}, true}), 0) << "few columns";
  EXPECT_EQ(CountExtrema({{32, 8, 32, 8}, {1, 3}}), 0) << "dimensions apart";
  EXPECT_EQ(CountExtrema({{1024, 16}, {1}, true, false, xla::F64}), 0) << "float64";
  EXPECT_EQ(CountExtrema({{1024, 16}, {1}, false, false, xla::S32}), 0) << "whole numbers";
}

}  // namespace extremum_pass_test
}  // namespace hpu::emulator
