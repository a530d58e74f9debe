// Tests of sums over windows of rows against XLA.
#include "plugin/backends/emulator/hlo_passes/row_window_pass.h"

#include <gtest/gtest.h>

#include "plugin/backends/emulator/kernels/row_windows.h"
#include "plugin/testing/kernel_harness.h"
#include "plugin/testing/recipe_harness.h"
#include "xla/hlo/builder/lib/arithmetic.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/xla_builder.h"

namespace hpu::emulator {
namespace row_window_pass_test {

struct Case {
  std::vector<int64_t> dims;
  int64_t window = 1;
  int64_t before = 0;
  int64_t after = 0;
  bool squares = false;
  int64_t stride = 1;
  xla::PrimitiveType type = xla::F32;
};

xla::XlaComputation Sums(const Case& c) {
  xla::XlaBuilder builder("sums");
  xla::XlaOp x = xla::Parameter(&builder, 0, xla::ShapeUtil::MakeShape(c.type, c.dims), "x");
  if (c.squares) x = xla::Mul(x, x);
  std::vector<int64_t> window(c.dims.size(), 1);
  std::vector<int64_t> strides = window;
  window.back() = c.window;
  strides.back() = c.stride;
  std::vector<std::pair<int64_t, int64_t>> padding(c.dims.size());
  padding.back() = {c.before, c.after};
  const xla::XlaOp sums = xla::ReduceWindowWithGeneralPadding(x, xla::Zero(&builder, c.type),
                                                              xla::CreateScalarAddComputation(c.type, &builder), window,
                                                              strides, {}, {}, padding);
  xla::Tuple(&builder, {sums});
  return builder.Build().value();
}

class RowWindowPassTest : public testing::TestWithParam<int> {};

TEST_P(RowWindowPassTest, EqualsXla) {
  Dice dice(GetParam());
  Case c;
  for (int64_t rank = dice.Roll(0, 2); rank > 0; --rank) c.dims.push_back(dice.Roll(1, 5));
  c.dims.push_back(dice.Roll(8, 150));
  c.window = dice.Roll(2, 12);
  c.before = dice.Roll(0, 14);
  c.after = dice.Roll(c.window - 1, 14);
  c.squares = dice.Roll(0, 1) == 0;
  SCOPED_TRACE(testing::PrintToString(c.dims));
  const xla::XlaComputation computation = Sums(c);
  ExpectSameAsEvaluator(computation, ArgumentsOf(computation), 1, 0);
  ExpectSameWithKernels(computation, ArgumentsOf(computation), 1, 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Random, RowWindowPassTest, testing::Range(0, 20));

TEST(RowWindowPass, OfOneElement) {
  const std::vector<float> x = {-3};
  const auto run = [&x](bool squares, int64_t window, int64_t before, int64_t after) {
    const RowWindows kernel{squares, 1, 1, window, before, after};
    return ElementsOf<float>(RunKernel(kernel.Spec(), {BytesOf(x)}, (2 + before + after - window) * sizeof(float)));
  };
  EXPECT_EQ(run(false, 1, 0, 0), std::vector<float>{-3});
  EXPECT_EQ(run(true, 1, 0, 0), std::vector<float>{9});
  EXPECT_EQ(run(true, 2, 1, 1), (std::vector<float>{9, 9}));
  EXPECT_EQ(run(false, 2, 2, 1), (std::vector<float>{0, -3, -3}));
  const xla::XlaComputation computation = Sums({{1, 1}, 3, 1, 1});
  ExpectSameWithKernels(computation, ArgumentsOf(computation), 0, 0);
}

TEST(RowWindowPass, LeavesUnsupportedUnchanged) {
  EXPECT_EQ(KernelsOf(Sums({{7, 20}, 5, 2, 2})).size(), 1);
  EXPECT_EQ(KernelsOf(Sums({{0, 20}, 5, 2, 2})).size(), 0) << "no elements";
  EXPECT_EQ(KernelsOf(Sums({{20, 7}, 5, 2, 2})).size(), 0) << "few sums";
  EXPECT_EQ(KernelsOf(Sums({{7, 20}, 5, 2, 2, false, 2})).size(), 0) << "strides";
  EXPECT_EQ(KernelsOf(Sums({{7, 20}, 5, 2, -2})).size(), 0) << "negative padding";
  EXPECT_EQ(KernelsOf(Sums({{7, 20}, 5, 2, 2, false, 1, xla::S32})).size(), 0) << "int32";
  EXPECT_EQ(KernelsOf(Sums({{7, 20}, 5, 2, 2, false, 1, xla::F16})).size(), 0) << "half precision";
}

TEST(RowWindowPass, RefusesOtherParameters) {
  EXPECT_TRUE(MakeKernel(RowWindows{false, 2, 9, 3, 1, 1}.Spec()).ok());
  EXPECT_FALSE(MakeKernel(RowWindows{false, 2, 9, 12, 1, 1}.Spec()).ok()) << "a window longer than the padded row";
  EXPECT_FALSE(MakeKernel(RowWindows{false, 2, 9, 3, -1, 1}.Spec()).ok()) << "negative padding";
  EXPECT_FALSE(MakeKernel(RowWindows{false, 0, 9, 3, 1, 1}.Spec()).ok()) << "no rows";
}

}  // namespace row_window_pass_test
}  // namespace hpu::emulator
