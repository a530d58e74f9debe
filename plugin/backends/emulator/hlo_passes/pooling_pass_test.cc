// Tests of all kinds of windows against XLA. Results have the evaluator's bits, because the order of elements is the
// same.
#include "plugin/backends/emulator/hlo_passes/pooling_pass.h"

#include <gtest/gtest.h>

#include <limits>

#include "plugin/testing/kernel_harness.h"
#include "plugin/testing/recipe_harness.h"
#include "xla/hlo/builder/lib/arithmetic.h"
#include "xla/hlo/builder/lib/comparators.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/xla_builder.h"

namespace hpu::emulator {
namespace pooling_pass_test {

using xla::XlaOp;

// A reduction over windows of an image [batch, one to three windowed dimensions, features].
struct Case {
  std::vector<int64_t> image, window, strides, dilations, base_dilations;
  std::vector<std::pair<int64_t, int64_t>> padding;
  xla::PrimitiveType type = xla::F32;
};

Case RandomCase(uint32_t seed) {
  Dice dice(seed);
  Case c;
  const auto add = [&c](int64_t image, int64_t window, int64_t stride, std::pair<int64_t, int64_t> padding,
                        int64_t dilation, int64_t base_dilation) {
    c.image.push_back(image);
    c.window.push_back(window);
    c.strides.push_back(stride);
    c.padding.push_back(padding);
    c.dilations.push_back(dilation);
    c.base_dilations.push_back(base_dilation);
  };
  add(dice.Roll(1, 3), 1, 1, {0, 0}, 1, 1);
  const int64_t spatial = dice.Roll(1, 3);
  // Smaller volumes than images, because the evaluator is slow.
  const int64_t max_size = spatial == 3 ? 5 : 9;
  for (int64_t i = 0; i < spatial; ++i) {
    const int64_t window = dice.Roll(1, 3);
    add(dice.Roll(window, max_size), window, dice.Roll(1, 3), {dice.Roll(0, window - 1), dice.Roll(0, window - 1)}, 1,
        1);
  }
  // Whole blocks of lanes, parts of blocks, and fewer elements than a vector has. Volumes have few features.
  constexpr int64_t kFeatures[] = {4, 5, 16, 31, 32, 40, 64, 100};
  add(kFeatures[dice.Roll(0, spatial == 3 ? 3 : 7)], 1, 1, {0, 0}, 1, 1);
  // The first case has one window of two elements for each feature.
  if (seed == 0) {
    c = Case();
    add(1, 1, 1, {0, 0}, 1, 1);
    add(2, 2, 1, {0, 0}, 1, 1);
    add(4, 1, 1, {0, 0}, 1, 1);
  }
  return c;
}

XlaOp Reduce(XlaOp image, const Case& c, bool add) {
  xla::XlaBuilder* builder = image.builder();
  const XlaOp initial = add ? xla::Zero(builder, c.type) : xla::MinValue(builder, c.type);
  const xla::XlaComputation function =
      add ? xla::CreateScalarAddComputation(c.type, builder) : xla::CreateScalarMaxComputation(c.type, builder);
  return xla::ReduceWindowWithGeneralPadding(image, initial, function, c.window, c.strides, c.base_dilations,
                                             c.dilations, c.padding);
}

void ExpectSame(const xla::XlaComputation& computation, size_t kernels = 1) {
  ExpectSameWithKernels(computation, ArgumentsOf(computation), kernels, 0);
}

// Whether each window holds at most one element, so that the pass uses no kernel.
bool Repeat(const Case& c) {
  const std::vector<int64_t> ones(c.window.size(), 1);
  return c.strides == ones && c.dilations == ones && c.window == c.base_dilations;
}

xla::XlaComputation Reduction(const Case& c, bool add) {
  xla::XlaBuilder builder("reduction");
  XlaOp image = xla::Parameter(&builder, 0, xla::ShapeUtil::MakeShape(c.type, c.image), "image");
  xla::Tuple(&builder, {Reduce(image, c, add)});
  return builder.Build().value();
}

bool HasWindow(const Case& c) {
  for (size_t i = 0; i < c.window.size(); ++i) {
    if (c.window[i] != 1 || c.strides[i] != 1) return true;
  }
  return false;
}

class PoolingPassTest : public testing::TestWithParam<int> {};

TEST_P(PoolingPassTest, Reductions) {
  Case c = RandomCase(GetParam());
  Dice dice(GetParam() + 1000);
  for (size_t i = 1; i + 1 < c.window.size(); ++i) {
    c.dilations[i] = dice.Roll(1, 2);
    c.base_dilations[i] = dice.Roll(1, 2);
    c.padding[i].second += c.dilations[i] * c.window[i];
  }
  for (const bool add : {true, false}) {
    for (const xla::PrimitiveType type : {xla::F32, xla::BF16}) {
      if (add && type == xla::BF16) continue;
      c.type = type;
      ExpectSame(Reduction(c, add), Repeat(c) ? 0 : 1);
    }
  }
}

// Base dilation as in the gradient of windows without overlaps: each window holds one element, or none at the edges.
TEST_P(PoolingPassTest, Repetitions) {
  Case c = RandomCase(GetParam());
  Dice dice(GetParam() + 3000);
  c.image.back() = dice.Roll(1, 20);
  for (size_t i = 0; i < c.window.size(); ++i) {
    c.strides[i] = 1;
    c.base_dilations[i] = c.window[i];
    if (c.window[i] > 1) c.padding[i] = {dice.Roll(0, c.window[i] + 1), dice.Roll(c.window[i] - 1, c.window[i] + 2)};
  }
  for (const bool add : {true, false}) {
    for (const xla::PrimitiveType type : {xla::F32, xla::BF16}) {
      if (add && type == xla::BF16) continue;
      c.type = type;
      const xla::XlaComputation computation = Reduction(c, add);
      ExpectSame(computation, 0);
      const std::unique_ptr<xla::HloModule> module = ModuleOf(computation);
      KernelCalls calls;
      ASSERT_TRUE(UsePoolingKernels(module.get(), &calls).ok());
      for (const xla::HloInstruction* instruction : module->entry_computation()->instructions()) {
        EXPECT_NE(instruction->opcode(), xla::HloOpcode::kReduceWindow) << instruction->ToString();
      }
    }
  }
}

// The HLO that tf2xla emits for the gradient of average pooling: padding with interior zeros, sums of windows,
// cropping.
TEST_P(PoolingPassTest, PaddedAndCutSums) {
  Case c = RandomCase(GetParam());
  Dice dice(GetParam() + 2000);
  Case dilated = c;
  xla::PaddingConfig before, after;
  for (size_t i = 0; i < c.window.size(); ++i) {
    const bool inside = i > 0 && i + 1 < c.window.size();
    auto* pad = before.add_dimensions();
    pad->set_edge_padding_low(inside ? dice.Roll(0, 2) : 0);
    pad->set_edge_padding_high(inside ? 3 : 0);
    pad->set_interior_padding(inside ? dice.Roll(0, 2) : 0);
    auto* cut = after.add_dimensions();
    cut->set_edge_padding_low(inside ? -dice.Roll(0, 1) : 0);
    c.padding[i] = {0, 0};
    dilated.base_dilations[i] = before.dimensions(i).interior_padding() + 1;
  }
  xla::XlaBuilder builder("sums");
  XlaOp image = xla::Parameter(&builder, 0, xla::ShapeUtil::MakeShape(xla::F32, c.image), "image");
  XlaOp zero = xla::Zero(&builder, xla::F32);
  xla::Tuple(&builder, {xla::Pad(Reduce(xla::Pad(image, zero, before), c, true), zero, after)});
  ExpectSame(builder.Build().value(), Repeat(dilated) ? 0 : 1);
}

// The select function of MaxPoolGrad's lowering: keeps the first number unless the second number is greater.
xla::XlaComputation FirstMaximum() {
  xla::XlaBuilder builder("first_maximum");
  const xla::Shape number = xla::ShapeUtil::MakeShape(xla::F32, {});
  xla::Not(xla::Lt(xla::Parameter(&builder, 0, number, "first"), xla::Parameter(&builder, 1, number, "second")));
  return builder.Build().value();
}

XlaOp Gradient(XlaOp image, const Case& c) {
  xla::XlaBuilder* builder = image.builder();
  const xla::Shape pooled = builder->GetShape(Reduce(image, c, false)).value();
  return xla::SelectAndScatterWithGeneralPadding(
      image, FirstMaximum(), c.window, c.strides, c.padding, xla::Parameter(builder, 1, pooled, "gradient"),
      xla::Zero(builder, xla::F32), xla::CreateScalarAddComputation(xla::F32, builder));
}

// bfloat16 images are converted first, because the gradient is summed in float32.
xla::XlaComputation MaximumGradient(const Case& c, xla::PrimitiveType type = xla::F32) {
  xla::XlaBuilder builder("gradient");
  XlaOp image = xla::Parameter(&builder, 0, xla::ShapeUtil::MakeShape(type, c.image), "image");
  if (type != xla::F32) image = xla::ConvertElementType(image, xla::F32);
  xla::Tuple(&builder, {Gradient(image, c)});
  return builder.Build().value();
}

TEST_P(PoolingPassTest, MaximumGradients) {
  const Case c = RandomCase(GetParam());
  if (HasWindow(c)) ExpectSame(MaximumGradient(c));
}

TEST_P(PoolingPassTest, MaximumGradientsOfBfloat16) {
  const Case c = RandomCase(GetParam());
  if (!HasWindow(c)) return;
  const xla::XlaComputation computation = MaximumGradient(c, xla::BF16);
  EXPECT_EQ(KernelsOf(computation).at(0).parameters[0], 1) << "the kernel reads a copy in float32";
  ExpectSame(computation);
}

INSTANTIATE_TEST_SUITE_P(Random, PoolingPassTest, testing::Range(0, 30));

Case ThreeByThree() {
  return {{2, 9, 9, 8}, {1, 3, 3, 1}, {1, 2, 2, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}, {{0, 0}, {1, 1}, {1, 1}, {0, 0}}};
}

// The first of equal elements gets the gradient.
TEST(PoolingPass, TiesAndSpecialNumbers) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kValues[] = {0, 0, 1, 1, -0.0f, -1, kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN()};
  Dice dice(7);
  const xla::XlaComputation computation = MaximumGradient(ThreeByThree());
  std::vector<xla::Literal> arguments = ArgumentsOf(computation);
  for (float& value : arguments[0].data<float>()) value = kValues[dice.Roll(0, 8)];
  ExpectSameAsEvaluator(computation, arguments, 1, 0);
  const xla::XlaComputation of_bfloat16 = MaximumGradient(ThreeByThree(), xla::BF16);
  arguments = ArgumentsOf(of_bfloat16);
  for (xla::bfloat16& value : arguments[0].data<xla::bfloat16>()) value = xla::bfloat16(kValues[dice.Roll(0, 8)]);
  ExpectSameAsEvaluator(of_bfloat16, arguments, 1, 0);
}

// XLA computes unsupported cases.
TEST(PoolingPass, LeavesUnsupportedUnchanged) {
  const Case c = ThreeByThree();
  const auto kernels = [&c](xla::PrimitiveType type, const std::vector<int64_t>& image, bool other_initial) {
    Case changed = c;
    changed.image = image;
    changed.type = type;
    xla::XlaBuilder builder("other");
    XlaOp operand = xla::Parameter(&builder, 0, xla::ShapeUtil::MakeShape(type, image), "image");
    XlaOp initial = other_initial ? xla::One(&builder, type) : xla::Zero(&builder, type);
    xla::Tuple(&builder,
               {xla::ReduceWindowWithGeneralPadding(operand, initial, xla::CreateScalarAddComputation(type, &builder),
                                                    c.window, c.strides, c.base_dilations, c.dilations, c.padding)});
    return KernelsOf(builder.Build().value()).size();
  };
  EXPECT_EQ(kernels(xla::F32, c.image, false), 1);
  EXPECT_EQ(kernels(xla::F32, c.image, true), 0) << "an initial value other than the identity";
  EXPECT_EQ(kernels(xla::F32, {2, 9, 9, 2}, false), 0) << "few features";
  EXPECT_EQ(kernels(xla::F32, {0, 9, 9, 8}, false), 0) << "no elements";
  for (const std::vector<int64_t>& image : {std::vector<int64_t>{0, 9, 9, 8}, {2, 9, 9, 0}, {2, 1, 0, 8}}) {
    Case empty = ThreeByThree();
    empty.image = image;
    SCOPED_TRACE(testing::PrintToString(image));
    ExpectSameWithKernels(MaximumGradient(empty), ArgumentsOf(MaximumGradient(empty)), 0, 0);
  }
  EXPECT_EQ(kernels(xla::F16, c.image, false), 0) << "half precision";
  EXPECT_EQ(kernels(xla::S32, c.image, false), 0) << "integers";
}

}  // namespace pooling_pass_test
}  // namespace hpu::emulator
