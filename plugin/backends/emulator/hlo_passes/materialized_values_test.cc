// Tests that a value that kernels need in memory is computed once.
#include "plugin/backends/emulator/hlo_passes/materialized_values.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/testing/kernel_harness.h"
#include "plugin/testing/recipe_harness.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/hlo/ir/hlo_computation.h"

namespace hpu::emulator {
namespace materialized_values_test {

using xla::XlaBuilder;
using xla::XlaOp;

constexpr int kLayers = 6;

// Residual layers, which add to their input; products need each sum in memory.
xla::XlaComputation Residual(int64_t rows) {
  XlaBuilder builder("residual");
  const auto parameter = [&builder](int64_t number, std::vector<int64_t> dims) {
    return xla::Parameter(&builder, number, xla::ShapeUtil::MakeShape(xla::F32, dims), absl::StrCat("p", number));
  };
  XlaOp x = parameter(0, {rows, 64});
  for (int i = 0; i < kLayers; ++i) {
    const XlaOp product = xla::Dot(x, parameter(i + 1, {64, 64}));
    x = xla::Max(x + product * xla::ConstantR0<float>(&builder, 0.125f), xla::ConstantR0<float>(&builder, 0));
  }
  xla::Tuple(&builder, {x});
  return builder.Build().value();
}

// Runs XLA's passes, with or without this pass around them; returns the maximum number of arrays that one loop reads.
int64_t MaxOperands(const xla::XlaComputation& computation, bool keep) {
  const std::unique_ptr<xla::HloModule> module =
      keep ? AfterXlaPasses(computation, KeepValues) : AfterXlaPasses(computation);
  EXPECT_TRUE(ReleaseValues(module.get()).ok());
  int64_t max = 0;
  for (const xla::HloInstruction* instruction : module->entry_computation()->instructions()) {
    EXPECT_NE(instruction->opcode(), xla::HloOpcode::kCustomCall) << instruction->ToString();
    if (instruction->opcode() == xla::HloOpcode::kFusion || instruction->opcode() == xla::HloOpcode::kCall) {
      max = std::max<int64_t>(max, instruction->operand_count());
    }
  }
  return max;
}

TEST(MaterializedValues, SumsAreReadNotRecomputed) {
  EXPECT_GT(MaxOperands(Residual(512), /*keep=*/false), kLayers / 2);
  EXPECT_LE(MaxOperands(Residual(512), /*keep=*/true), 2);
}

TEST(MaterializedValues, SmallValuesAreRecomputed) {
  EXPECT_EQ(MaxOperands(Residual(16), /*keep=*/true), MaxOperands(Residual(16), /*keep=*/false));
}

TEST(MaterializedValues, ComputesTheSame) {
  const xla::XlaComputation computation = Residual(512);
  ExpectSameWithKernels(computation, ArgumentsOf(computation), KernelsOf(computation).size(), 1e-5);
}

// A ReLU of a product, which another product reads, and the gradient of the ReLU.
xla::XlaComputation Rectified(int64_t rows) {
  XlaBuilder builder("rectified");
  const auto parameter = [&builder](int64_t number, std::vector<int64_t> dims) {
    return xla::Parameter(&builder, number, xla::ShapeUtil::MakeShape(xla::F32, dims), absl::StrCat("p", number));
  };
  const XlaOp zero = xla::ConstantR0<float>(&builder, 0);
  const XlaOp x = parameter(0, {rows, 64});
  const XlaOp rectified = xla::Max(xla::Dot(x, parameter(1, {64, 64})), zero);
  const XlaOp weights = parameter(2, {64, 64});
  const XlaOp product = xla::Dot(rectified, weights);
  const XlaOp back = xla::Dot(xla::Tanh(product), xla::Transpose(weights, {1, 0}));
  const XlaOp gradient = xla::Select(xla::Gt(rectified, zero), back, xla::Broadcast(zero, {rows, 64}));
  xla::Tuple(&builder, {xla::Dot(xla::Transpose(x, {1, 0}), gradient)});
  return builder.Build().value();
}

TEST(MaterializedValues, OnlyRectifiedValuesAreMaterialized) {
  const auto loops_over_products = [](bool keep) {
    const xla::XlaComputation computation = Rectified(512);
    const std::unique_ptr<xla::HloModule> module =
        keep ? AfterXlaPasses(computation, KeepValues) : AfterXlaPasses(computation);
    EXPECT_TRUE(ReleaseValues(module.get()).ok());
    int64_t max = 0;
    for (const xla::HloInstruction* instruction : module->entry_computation()->instructions()) {
      if (instruction->opcode() == xla::HloOpcode::kDot) max = std::max(max, instruction->user_count());
    }
    return max;
  };
  EXPECT_EQ(loops_over_products(/*keep=*/false), 2);
  EXPECT_EQ(loops_over_products(/*keep=*/true), 1);
  const xla::XlaComputation computation = Rectified(512);
  ExpectSameWithKernels(computation, ArgumentsOf(computation), KernelsOf(computation).size(), 1e-5);
}

// A value that a product rounds and other instructions read, and that a product reads in another shape.
xla::XlaComputation Rounded(int64_t rows) {
  XlaBuilder builder("rounded");
  const XlaOp x = xla::Parameter(&builder, 0, xla::ShapeUtil::MakeShape(xla::F32, {rows, 8, 32}), "x");
  const XlaOp weights = xla::Parameter(&builder, 1, xla::ShapeUtil::MakeShape(xla::F32, {256, 16}), "weights");
  const XlaOp rounded = xla::ConvertElementType(xla::ConvertElementType(x, xla::BF16), xla::F32);
  xla::Tuple(&builder, {xla::Dot(xla::Reshape(rounded, {rows, 256}), weights), xla::Tanh(rounded)});
  return builder.Build().value();
}

// Number of roundings to bfloat16, and number of reshapes and bitcasts inside fusions.
std::pair<int64_t, int64_t> RoundsAndReshapes(const xla::XlaComputation& computation, bool keep) {
  const std::unique_ptr<xla::HloModule> module =
      keep ? AfterXlaPasses(computation, KeepValues) : AfterXlaPasses(computation);
  EXPECT_TRUE(ReleaseValues(module.get()).ok());
  int64_t rounds = 0, reshapes = 0;
  for (const xla::HloComputation* inner : module->computations()) {
    for (const xla::HloInstruction* instruction : inner->instructions()) {
      rounds += instruction->opcode() == xla::HloOpcode::kConvert && instruction->shape().element_type() == xla::BF16 ||
                instruction->opcode() == xla::HloOpcode::kReducePrecision;
      reshapes += inner->IsFusionComputation() && (instruction->opcode() == xla::HloOpcode::kReshape ||
                                                   instruction->opcode() == xla::HloOpcode::kBitcast);
    }
  }
  return {rounds, reshapes};
}

TEST(MaterializedValues, RoundedOnceAndNotReshapedElementByElement) {
  const auto [rounds_without, reshapes_without] = RoundsAndReshapes(Rounded(512), /*keep=*/false);
  EXPECT_GE(rounds_without, 1);  // more than once in older releases of XLA
  EXPECT_GT(reshapes_without, 0);
  EXPECT_EQ(RoundsAndReshapes(Rounded(512), /*keep=*/true), std::pair(int64_t{1}, int64_t{0}));
  const xla::XlaComputation computation = Rounded(512);
  ExpectSameWithKernels(computation, ArgumentsOf(computation), KernelsOf(computation).size(), 1e-5);
}

// Adjacent blocks of an image's pixels, as space_to_depth makes them.
xla::XlaComputation Blocks(int64_t rows, xla::PrimitiveType type) {
  XlaBuilder builder("blocks");
  const XlaOp x = xla::Parameter(&builder, 0, xla::ShapeUtil::MakeShape(type, {rows, 2, 6, 2, 16}), "x");
  xla::Tuple(&builder, {xla::Reshape(xla::Transpose(x, {0, 2, 1, 3, 4}), {rows, 6, 64})});
  return builder.Build().value();
}

TEST(MaterializedValues, RowsAreMovedBeforeTheyAreReshaped) {
  const auto divides = [](bool keep) {
    const std::unique_ptr<xla::HloModule> module =
        keep ? AfterXlaPasses(Blocks(200, xla::F32), KeepValues) : AfterXlaPasses(Blocks(200, xla::F32));
    EXPECT_TRUE(ReleaseValues(module.get()).ok());
    int64_t loops = 0;
    for (const xla::HloComputation* inner : module->computations()) {
      loops += inner->IsFusionComputation() && inner->root_instruction()->opcode() == xla::HloOpcode::kBitcast;
    }
    return loops;
  };
  EXPECT_EQ(divides(/*keep=*/false), 1);
  EXPECT_EQ(divides(/*keep=*/true), 0);
  for (const xla::PrimitiveType type : {xla::F32, xla::BF16, xla::S8, xla::C64}) {
    for (const int64_t rows : {0, 1, 200}) {
      const xla::XlaComputation computation = Blocks(rows, type);
      ExpectSameAsEvaluator(computation, ArgumentsOf(computation), 0, 0);
    }
  }
}

// A value that XLA replaces by the argument, which an update in place must not overwrite.
TEST(MaterializedValues, ArgumentsStayWhole) {
  XlaBuilder builder("argument");
  const XlaOp x = xla::Parameter(&builder, 0, xla::ShapeUtil::MakeShape(xla::F32, {256, 256}), "x");
  const XlaOp zero = xla::Broadcast(xla::ConstantR0<float>(&builder, 0), {256, 256});
  const XlaOp same = x * xla::ConstantR0<float>(&builder, 1) + xla::Max(zero, zero) * x;
  const XlaOp updated =
      xla::DynamicUpdateSlice(same, xla::Slice(same, {1, 1}, {2, 9}, {1, 1}),
                              {xla::ConstantR0<int32_t>(&builder, 5), xla::ConstantR0<int32_t>(&builder, 7)});
  xla::Tuple(&builder, {xla::Tanh(same) + xla::Dot(updated, same)});
  const xla::XlaComputation computation = builder.Build().value();
  const std::vector<xla::Literal> arguments = ArgumentsOf(computation);
  ExpectSameWithKernels(computation, arguments, KernelsOf(computation).size(), 1e-4);
}

}  // namespace materialized_values_test
}  // namespace hpu::emulator
