// Concatenations, against XLA.
#include "plugin/backends/emulator/hlo_passes/concatenation_pass.h"

#include <gtest/gtest.h>

#include "plugin/backends/emulator/hlo_passes/kernel_harness.h"
#include "plugin/backends/emulator/recipe_harness.h"
#include "xla/client/xla_builder.h"

namespace hpu::emulator {
namespace {

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
    ExpectSameAsEvaluator(computation, ArgumentsOf(computation), 1, 0);
    ExpectSameWithKernels(computation, ArgumentsOf(computation), 1, 0);
  }
}

TEST(ConcatenationPass, LeavesTheRest) {
  const auto kernels = [](const std::vector<std::vector<int64_t>>& shapes, int64_t dimension, xla::PrimitiveType type) {
    return KernelsOf(Concatenated(shapes, dimension, type)).size();
  };
  EXPECT_EQ(kernels({{1}, {1}}, 0, xla::F32), 0) << "single elements";
  EXPECT_EQ(kernels({{5000, 1}, {5000, 1}}, 1, xla::F32), 0) << "short rows";
  EXPECT_EQ(kernels({{0, 64}, {64, 64}}, 0, xla::F32), 0) << "an array without elements";
  EXPECT_EQ(kernels({{64, 64}, {64, 64}}, 0, xla::S32), 0) << "another type";
}

}  // namespace
}  // namespace hpu::emulator
