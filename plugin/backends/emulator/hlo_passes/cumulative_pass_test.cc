// Cumulative sums and products against XLA.
#include "plugin/backends/emulator/hlo_passes/cumulative_pass.h"

#include <gtest/gtest.h>

#include "plugin/backends/emulator/hlo_passes/kernel_harness.h"
#include "plugin/backends/emulator/recipe_harness.h"
#include "xla/client/lib/arithmetic.h"
#include "xla/client/lib/constants.h"
#include "xla/client/xla_builder.h"

namespace hpu::emulator {
namespace {

struct Case {
  std::vector<int64_t> dims;
  int64_t axis = 0;
  int64_t before = 0;  // padding
  int64_t after = 0;
  bool product = false;
};

xla::XlaComputation Sums(const Case& c, xla::PrimitiveType type = xla::F32) {
  xla::XlaBuilder builder("sums");
  const xla::XlaOp x = xla::Parameter(&builder, 0, xla::ShapeUtil::MakeShape(type, c.dims), "x");
  std::vector<int64_t> window(c.dims.size(), 1);
  const std::vector<int64_t> ones = window;
  window[c.axis] = c.dims[c.axis];
  std::vector<std::pair<int64_t, int64_t>> padding(c.dims.size());
  padding[c.axis] = {c.before, c.after};
  const xla::XlaOp sums =
      xla::ReduceWindowWithGeneralPadding(x, c.product ? xla::One(&builder, type) : xla::Zero(&builder, type),
                                          c.product ? xla::CreateScalarMultiplyComputation(type, &builder)
                                                    : xla::CreateScalarAddComputation(type, &builder),
                                          window, ones, {}, {}, padding);
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
  // The evaluator adds every window anew, slowly.
  if (c.dims.size() == 1) c.dims = {dice.Roll(2, 5), dice.Roll(1000, 1100)};
  const int64_t padding = c.dims[c.axis] - dice.Roll(0, 1);
  (dice.Roll(0, 1) == 0 ? c.before : c.after) = padding;
  c.product = dice.Roll(0, 1) == 0;
  SCOPED_TRACE(testing::PrintToString(c.dims));
  const xla::XlaComputation computation = Sums(c);
  ExpectSameWithKernels(computation, ArgumentsOf(computation), 1, 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Random, CumulativePassTest, testing::Range(0, 30));

TEST(CumulativePass, LeavesTheRest) {
  EXPECT_EQ(KernelsOf(Sums({{7, 0}, 0, 6, 0})).size(), 0) << "no elements";
  EXPECT_EQ(KernelsOf(Sums({{7, 2}, 0, 5, 0})).size(), 0) << "not from the first element on";
  EXPECT_EQ(KernelsOf(Sums({{7, 2}, 0, 3, 3})).size(), 0) << "around the element";
  EXPECT_EQ(KernelsOf(Sums({{7, 2}, 0, 6, 0}, xla::S32)).size(), 0) << "whole numbers";
}

}  // namespace
}  // namespace hpu::emulator
