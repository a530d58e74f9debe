// Tests of concatenations against XLA.
#include "plugin/backends/emulator/hlo_passes/concatenation_pass.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "plugin/testing/kernel_harness.h"
#include "plugin/testing/recipe_harness.h"
#include "xla/hlo/builder/lib/arithmetic.h"
#include "xla/hlo/builder/xla_builder.h"

namespace hpu::emulator {
namespace concatenation_pass_test {

xla::XlaComputation Concatenated(const std::vector<std::vector<int64_t>>& shapes, int64_t dimension,
                                 xla::PrimitiveType type) {
  xla::XlaBuilder builder("concatenation");
  std::vector<xla::XlaOp> operands;
  for (const std::vector<int64_t>& dims : shapes) {
    const auto number = static_cast<int64_t>(operands.size());
    operands.push_back(xla::Parameter(&builder, number, xla::ShapeUtil::MakeShape(type, dims), "x"));
  }
  xla::Tuple(&builder, {xla::ConcatInDim(&builder, operands, dimension)});
  return builder.Build().value();
}

TEST(ConcatenationPass, RandomShapes) {
  for (uint32_t seed = 0; seed < 30; ++seed) {
    Dice dice(seed);
    const int64_t dimension = dice.Roll(0, 2);
    std::vector<std::vector<int64_t>> shapes(dice.Roll(2, 5), {dice.Roll(9, 40), dice.Roll(9, 40), dice.Roll(16, 40)});
    for (std::vector<int64_t>& dims : shapes) dims[dimension] = dice.Roll(16, 40);
    const auto computation = Concatenated(shapes, dimension, dice.Roll(0, 1) == 0 ? xla::F32 : xla::BF16);
    SCOPED_TRACE(seed);
    ExpectSameWithKernels(computation, ArgumentsOf(computation), 1, 0);
  }
}

// An array rolled along a dimension: its two slices in reverse order.
xla::XlaComputation Rolled(const std::vector<int64_t>& dims, int64_t dimension, int64_t shift, bool computed) {
  xla::XlaBuilder builder("roll");
  xla::XlaOp x = xla::Parameter(&builder, 0, xla::ShapeUtil::MakeShape(xla::F32, dims), "x");
  if (computed) x = x * x;
  const auto slice = [&](int64_t begin, int64_t end) { return xla::SliceInDim(x, begin, end, 1, dimension); };
  xla::Tuple(&builder, {xla::ConcatInDim(&builder, {slice(shift, dims[dimension]), slice(0, shift)}, dimension)});
  return builder.Build().value();
}

TEST(ConcatenationPass, ReadsSlicesFromTheirSources) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    Dice dice(seed);
    const std::vector<int64_t> dims = {dice.Roll(9, 40), dice.Roll(9, 40), dice.Roll(16, 40)};
    const int64_t dimension = dice.Roll(0, 2);
    const auto computation = Rolled(dims, dimension, dice.Roll(1, dims[dimension] - 1), dice.Roll(0, 1) == 0);
    SCOPED_TRACE(seed);
    const std::vector<KernelSpec> kernels = KernelsOf(computation);
    ASSERT_EQ(kernels.size(), 1);
    EXPECT_EQ(kernels[0].parameters[1], kernels[0].parameters[4]) << "rows of the same array";
    EXPECT_NE(kernels[0].parameters[2], 0);
    ExpectSameWithKernels(computation, ArgumentsOf(computation), 1, 0);
  }
}

// Concatenates two slices of the squares of an array [64, 4096]. With `summed`, also returns the sum of the squares.
xla::XlaComputation TwoSlices(bool summed) {
  xla::XlaBuilder builder("slices");
  const xla::XlaOp x = xla::Parameter(&builder, 0, xla::ShapeUtil::MakeShape(xla::F32, {64, 4096}), "x");
  const xla::XlaOp squares = x * x;
  const auto slice = [&](int64_t begin) { return xla::SliceInDim(squares, begin, begin + 32, 1, 1); };
  std::vector<xla::XlaOp> results = {xla::ConcatInDim(&builder, {slice(64), slice(7)}, 1)};
  if (summed) {
    results.push_back(xla::Reduce(squares, xla::ConstantR0(&builder, 0.0f),
                                  xla::CreateScalarAddComputation(xla::F32, &builder), {0, 1}));
  }
  xla::Tuple(&builder, results);
  return builder.Build().value();
}

TEST(ConcatenationPass, ComputesSlicesOfUnmaterializedSources) {
  for (const bool summed : {false, true}) {
    const xla::XlaComputation computation = TwoSlices(summed);
    const std::vector<KernelSpec> kernels = KernelsOf(computation);
    const auto kernel = std::find_if(kernels.begin(), kernels.end(),
                                     [](const KernelSpec& kernel) { return kernel.name.find("concatenation") == 0; });
    ASSERT_NE(kernel, kernels.end());
    EXPECT_EQ(kernel->parameters, (std::vector<int64_t>{64, 128, 0, 128, 128, 0, 128}));
    ExpectSameWithKernels(computation, ArgumentsOf(computation), kernels.size(), 1e-5);
  }
}

// Repeats an array along a dimension, as tf2xla lowers tf.tile, and adds the result to itself if `added`. Ends with a
// reshape to the same shape, as function results do.
xla::XlaComputation Tiled(const std::vector<int64_t>& dims, int64_t dimension, int64_t times, bool added = false) {
  xla::XlaBuilder builder("tile");
  const xla::XlaOp x = xla::Parameter(&builder, 0, xla::ShapeUtil::MakeShape(xla::F32, dims), "x");
  std::vector<int64_t> all = dims, kept, tiled = dims;
  all.insert(all.begin() + dimension, times);
  for (int64_t i = 0; i < static_cast<int64_t>(dims.size()); ++i) kept.push_back(i < dimension ? i : i + 1);
  tiled[dimension] *= times;
  const xla::XlaOp result = xla::Reshape(xla::BroadcastInDim(x, all, kept), tiled);
  xla::Tuple(&builder, {xla::Reshape(added ? result + result : result, tiled)});
  return builder.Build().value();
}

TEST(ConcatenationPass, RepeatsArrays) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    Dice dice(seed);
    const std::vector<int64_t> dims = {dice.Roll(9, 40), dice.Roll(9, 40), dice.Roll(16, 40)};
    const auto computation = Tiled(dims, dice.Roll(0, 2), dice.Roll(2, 5));
    SCOPED_TRACE(seed);
    ExpectSameWithKernels(computation, ArgumentsOf(computation), 1, 0);
  }
  EXPECT_EQ(KernelsOf(Tiled({64, 64}, 1, 3)).size(), 1);
  EXPECT_EQ(KernelsOf(Tiled({64, 64}, 1, 3, /*added=*/true)).size(), 0) << "fused";
  EXPECT_EQ(KernelsOf(Tiled({64, 64}, 0, 1)).size(), 0) << "a tiling by one";
  EXPECT_EQ(KernelsOf(Tiled({64, 4}, 1, 30)).size(), 0) << "short rows";
  EXPECT_EQ(KernelsOf(Tiled({64, 64}, 0, 65)).size(), 0) << "many operands";
}

TEST(ConcatenationPass, SplitsLongRows) {
  const xla::XlaComputation tiled = Tiled({1 << 10, 300}, 0, 3), rolled = Rolled({1 << 10, 300}, 0, 777, false);
  ExpectSameWithKernels(tiled, ArgumentsOf(tiled), 1, 0);
  ExpectSameWithKernels(rolled, ArgumentsOf(rolled), 1, 0);
}

TEST(ConcatenationPass, LeavesUnsupportedUnchanged) {
  const auto kernels = [](const std::vector<std::vector<int64_t>>& shapes, int64_t dimension, xla::PrimitiveType type) {
    return KernelsOf(Concatenated(shapes, dimension, type)).size();
  };
  EXPECT_EQ(kernels({{1}, {1}}, 0, xla::F32), 0) << "single elements";
  EXPECT_EQ(kernels({{5000, 1}, {5000, 1}}, 1, xla::F32), 0) << "short rows";
  EXPECT_EQ(kernels({{0, 64}, {64, 64}}, 0, xla::F32), 0) << "an array without elements";
  EXPECT_EQ(kernels({{64, 64}, {64, 64}}, 0, xla::S32), 0) << "another type";
}

}  // namespace concatenation_pass_test
}  // namespace hpu::emulator
