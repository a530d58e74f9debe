// Tests of convolutions as tf2xla emits them, against XLA.
#include "plugin/backends/emulator/hlo_passes/convolution_pass.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "plugin/backends/emulator/hlo_passes/kernel_passes.h"
#include "plugin/backends/emulator/hlo_passes/materialized_values.h"
#include "plugin/backends/emulator/kernels/compiler_target.h"
#include "plugin/backends/emulator/kernels/convolution.h"
#include "plugin/backends/emulator/kernels/one_dnn.h"
#include "plugin/backends/emulator/kernels/vectorize.h"
#include "plugin/testing/kernel_harness.h"
#include "plugin/testing/recipe_harness.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/hlo/ir/hlo_computation.h"

namespace hpu::emulator {
namespace convolution_pass_test {

using xla::XlaOp;
using Dimension = Convolution::Dimension;
using Kind = Convolution::Kind;

std::vector<int64_t> Shape(int64_t first, const std::vector<Dimension>& dimensions, int64_t Dimension::*size,
                           int64_t last) {
  std::vector<int64_t> shape = {first};
  for (const Dimension& d : dimensions) shape.push_back(d.*size);
  shape.push_back(last);
  return shape;
}

std::vector<int64_t> SpatialShape(const std::vector<Dimension>& dimensions, int64_t Dimension::*size) {
  std::vector<int64_t> shape = Shape(0, dimensions, size, 0);
  return {shape.begin() + 1, shape.end() - 1};
}

// The dimension numbers that tf2xla emits for the convolution's kind.
xla::ConvolutionDimensionNumbers Numbers(const Convolution& c) {
  xla::ConvolutionDimensionNumbers numbers;
  const int64_t n = c.dimensions.size();
  const bool filter_gradient = c.kind == Kind::kFilterGradient, input_gradient = c.kind == Kind::kInputGradient;
  numbers.set_input_batch_dimension(filter_gradient ? n + 1 : 0);
  numbers.set_input_feature_dimension(filter_gradient ? 0 : n + 1);
  numbers.set_kernel_input_feature_dimension(filter_gradient ? 0 : input_gradient ? n + 1 : n);
  numbers.set_kernel_output_feature_dimension(input_gradient ? n : n + 1);
  numbers.set_output_batch_dimension(filter_gradient ? n : 0);
  numbers.set_output_feature_dimension(n + 1);
  for (int64_t i = 0; i < n; ++i) {
    numbers.add_input_spatial_dimensions(i + 1);
    numbers.add_kernel_spatial_dimensions(filter_gradient ? i + 1 : i);
    numbers.add_output_spatial_dimensions(filter_gradient ? i : i + 1);
  }
  return numbers;
}

XlaOp Build(xla::XlaBuilder* builder, const Convolution& c, xla::PrimitiveType type) {
  const auto parameter = [&](int64_t number, const std::vector<int64_t>& dims) {
    return xla::Parameter(builder, number, xla::ShapeUtil::MakeShape(type, dims), "p" + std::to_string(number));
  };
  const auto image = Shape(c.batch, c.dimensions, &Dimension::input, c.input_features);
  const auto result = Shape(c.batch, c.dimensions, &Dimension::output, c.output_features);
  std::vector<int64_t> filter = SpatialShape(c.dimensions, &Dimension::window);
  const auto strides = SpatialShape(c.dimensions, &Dimension::stride);
  const auto dilations = SpatialShape(c.dimensions, &Dimension::dilation);
  const std::vector<int64_t> ones(c.dimensions.size(), 1);
  std::vector<std::pair<int64_t, int64_t>> padding;
  for (const Dimension& d : c.dimensions) {
    const int64_t reach = (d.window - 1) * d.dilation;
    const int64_t used = (d.output - 1) * d.stride + 1;
    if (c.kind == Kind::kForward) padding.emplace_back(d.pad_low, d.pad_high);
    if (c.kind == Kind::kInputGradient) padding.emplace_back(reach - d.pad_low, d.input + d.pad_low - used);
    if (c.kind == Kind::kFilterGradient) padding.emplace_back(d.pad_low, used + reach - d.input - d.pad_low);
  }
  const auto numbers = Numbers(c);
  switch (c.kind) {
    case Kind::kForward:
      filter.insert(filter.end(), {c.input_features / c.groups, c.output_features});
      return xla::ConvGeneralDilated(parameter(0, image), parameter(1, filter), strides, padding, ones, dilations,
                                     numbers, c.groups);
    case Kind::kInputGradient: {
      std::vector<int64_t> space;
      for (size_t i = 0; i < c.dimensions.size(); ++i) space.push_back(i);
      filter.insert(filter.end(), {c.input_features, c.output_features / c.groups});
      return xla::ConvGeneralDilated(parameter(0, result), xla::Rev(parameter(1, filter), space), ones, padding,
                                     strides, dilations, numbers, c.groups);
    }
    case Kind::kFilterGradient:
      return xla::ConvGeneralDilated(parameter(0, image), parameter(1, result), dilations, padding, ones, strides,
                                     numbers, 1, c.groups);
  }
  return XlaOp();
}

// A random convolution with consistent sizes.
Convolution RandomCase(uint32_t seed) {
  Dice dice(seed);
  Convolution c;
  c.kind = static_cast<Kind>(seed % 3);
  c.batch = dice.Roll(1, 3);
  const int kind_of_groups = dice.Roll(0, 3);
  c.groups = kind_of_groups < 2 ? 1 : dice.Roll(2, 4);
  c.input_features = kind_of_groups == 3 ? c.groups : c.groups * dice.Roll(1, 5);
  c.output_features = c.groups * dice.Roll(1, 4);
  const bool three = dice.Roll(0, 4) == 0;
  // Strides and dilations are 1 or random. Random values are equal in all dimensions or differ.
  const int64_t max_stride = dice.Roll(0, 1) == 0 ? 1 : 3, max_dilation = dice.Roll(0, 1) == 0 ? 1 : 3;
  const int64_t stride = dice.Roll(1, max_stride), dilation = dice.Roll(1, max_dilation);
  const bool alike = dice.Roll(0, 1) == 0;
  const bool same_padding = dice.Roll(0, 1) == 0;
  for (int i = 0; i < (three ? 3 : 2); ++i) {
    Dimension d;
    d.stride = alike ? stride : dice.Roll(1, max_stride);
    d.dilation = alike ? dilation : dice.Roll(1, max_dilation);
    d.window = dice.Roll(1, three ? 3 : 4);
    const int64_t reach = (d.window - 1) * d.dilation + 1;
    d.input = dice.Roll(reach, reach + (three ? 4 : 8));
    if (same_padding) {
      d.output = (d.input + d.stride - 1) / d.stride;
      const int64_t all = std::max<int64_t>(0, (d.output - 1) * d.stride + reach - d.input);
      d.pad_low = all / 2;
      d.pad_high = all - all / 2;
    } else {
      d.pad_low = dice.Roll(0, d.window - 1);
      d.pad_high = dice.Roll(0, d.window - 1);
      d.output = (d.input + d.pad_low + d.pad_high - reach) / d.stride + 1;
    }
    c.dimensions.push_back(d);
  }
  return c;
}

// Whether a kernel computes the convolution; XLA computes the others. Kernels compute gradients with unnamed padding on
// padded images.
bool HasKernel(Convolution c) {
  if (IsTargetGeneric() || !c.Check().ok()) return false;
  if (c.kind != Kind::kForward && !c.HasNamedPadding()) {
    for (Dimension& d : c.dimensions) d = {d.input + d.pad_low + d.pad_high, d.output, d.window, d.stride, d.dilation};
  }
  return MakeKernel(c.Spec()).ok();
}

class ConvolutionPassTest : public testing::TestWithParam<int> {};

void ExpectEqualsXla(Convolution c, xla::PrimitiveType type, double tolerance) {
  if (type == xla::F64) c.type = Convolution::Type::kFloat64;
  SCOPED_TRACE(testing::PrintToString(c.Spec().parameters));
  xla::XlaBuilder builder("convolution");
  xla::Tuple(&builder, {Build(&builder, c, type)});
  const xla::XlaComputation computation = builder.Build().value();
  ExpectSameWithKernels(computation, ArgumentsOf(computation), HasKernel(c) ? 1 : 0, tolerance);
}

void ExpectEqualsXla(const Convolution& c) {
  ExpectEqualsXla(c, xla::F32, 2e-6);
  ExpectEqualsXla(c, xla::BF16, 1e-2);
  ExpectEqualsXla(c, xla::F64, 1e-13);
}

constexpr Kind kKinds[] = {Kind::kForward, Kind::kInputGradient, Kind::kFilterGradient};

TEST_P(ConvolutionPassTest, EqualsXla) {
  const Convolution c = RandomCase(GetParam());
  ASSERT_TRUE(c.Check().ok());
  ExpectEqualsXla(c);
}

TEST(ConvolutionPass, ComputesByBfloat16Instructions) {
  if (!HasAvx512() || !IsOneDnnOn()) GTEST_SKIP() << "bfloat16 kernels require oneDNN and AVX-512";
  const PretendedBfloat16Instructions pretended;
  int in_bfloat16 = 0;
  for (int seed = 0; seed < 40; ++seed) {
    Convolution c = RandomCase(seed);
    ExpectEqualsXla(c, xla::BF16, 1e-2);
    c.type = Convolution::Type::kBfloat16;
    if (HasKernel(c)) ++in_bfloat16;
  }
  EXPECT_GT(in_bfloat16, IsTargetGeneric() ? -1 : 20);
}

// TensorFlow's depthwise gradients ignore dilations. oneDNN computes dilated gradients as grouped convolutions.
TEST(ConvolutionPass, ComputesDilatedDepthwiseOnes) {
  for (Convolution c : {Convolution{.batch = 2,
                                    .input_features = 4,
                                    .output_features = 8,
                                    .groups = 4,
                                    .dimensions = {{9, 9, 3, 1, 2, 2, 2}, {9, 9, 3, 1, 2, 2, 2}}},
                        Convolution{.batch = 2,
                                    .input_features = 3,
                                    .output_features = 3,
                                    .groups = 3,
                                    .dimensions = {{9, 5, 3, 1, 2}, {9, 7, 3, 1, 1}}}}) {
    for (const Kind kind : kKinds) {
      c.kind = kind;
      if (!IsTargetGeneric()) EXPECT_EQ(HasKernel(c), IsOneDnnOn());
      ExpectEqualsXla(c);
    }
  }
}

// TensorFlow has no CPU kernels for groups in three dimensions.
TEST(ConvolutionPass, LeavesGroupsInThreeDimensions) {
  for (const int64_t groups : {2, 4}) {
    Convolution c{.batch = 1,
                  .input_features = 4,
                  .output_features = 8,
                  .groups = groups,
                  .dimensions = {{4, 2, 3}, {5, 3, 3}, {4, 2, 2, 2}}};
    for (const Kind kind : kKinds) {
      c.kind = kind;
      EXPECT_FALSE(HasKernel(c));
      ExpectEqualsXla(c);
    }
  }
}

TEST(ConvolutionPass, AcceptsSingleElements) {
  for (const size_t dimensions : {2, 3}) {
    Convolution c{.batch = 1, .input_features = 1, .output_features = 1};
    c.dimensions.assign(dimensions, {1, 1, 1});
    for (const Kind kind : kKinds) {
      c.kind = kind;
      ExpectEqualsXla(c);
    }
    c.dimensions.assign(dimensions, {1, 1, 3, 1, 1, 1, 1});
    for (const Kind kind : kKinds) {
      c.kind = kind;
      ExpectEqualsXla(c);
    }
  }
}

// Sums of no products are 0; results without elements are empty.
TEST(ConvolutionPass, LeavesEmptyArrays) {
  const Convolution whole{
      .batch = 2, .input_features = 3, .output_features = 4, .dimensions = {{5, 5, 3, 1, 1, 1, 1}, {4, 3, 2}}};
  std::vector<Convolution> cases(5, whole);
  cases[0].batch = 0;
  cases[1].input_features = 0;
  cases[2].output_features = 0;
  cases[3].dimensions[0] = {0, 1, 2, 1, 1, 1, 1};
  cases[4].dimensions[1] = {2, 0, 3};
  for (Convolution& c : cases) {
    for (const Kind kind : kKinds) {
      // XLA does not support empty windows.
      if (kind == Kind::kFilterGradient && c.dimensions[1].output == 0) continue;
      c.kind = kind;
      EXPECT_FALSE(HasKernel(c));
      ExpectEqualsXla(c);
    }
  }
}

// Runs kernels with and without a bias. The second run of a kernel finds the filter packed.
TEST(ConvolutionPass, PacksConstantFiltersOnce) {
  if (IsTargetGeneric()) GTEST_SKIP() << "HPU_EMULATOR_TARGET=generic disables the kernel";
  for (const bool bias : {false, true}) {
    const Convolution c{.batch = 2,
                        .input_features = 8,
                        .output_features = 16,
                        .dimensions = {{9, 9, 3, 1, 1, 1, 1}, {9, 5, 3, 2, 1, 1, 1}}};
    xla::XlaBuilder builder("convolution");
    const xla::Shape image = xla::ShapeUtil::MakeShape(xla::F32, {c.batch, 9, 9, c.input_features});
    xla::Array4D<float> filter(3, 3, c.input_features, c.output_features);
    filter.FillRandom(1.0f);
    XlaOp result =
        xla::ConvGeneralDilated(xla::Parameter(&builder, 0, image, "x"), xla::ConstantR4FromArray4D(&builder, filter),
                                {1, 2}, {{1, 1}, {1, 1}}, {1, 1}, {1, 1}, Numbers(c));
    if (bias) {
      const xla::Shape shape = xla::ShapeUtil::MakeShape(xla::F32, {c.output_features});
      result = xla::Add(result, xla::Parameter(&builder, 1, shape, "b"), {3});
    }
    xla::Tuple(&builder, {result});
    const xla::XlaComputation computation = builder.Build().value();
    const std::vector<KernelSpec> kernels = KernelsOf(computation);
    ASSERT_EQ(kernels.size(), 1);
    EXPECT_EQ(Convolution::Parse(kernels[0].parameters)->constant_filter, IsOneDnnOn());
    ExpectSameWithKernels(computation, ArgumentsOf(computation), 1, 1e-5);
  }
}

TEST(ConvolutionPass, AcceptsEveryPadding) {
  if (IsTargetGeneric()) GTEST_SKIP() << "HPU_EMULATOR_TARGET=generic disables the kernel";
  Convolution c{.kind = Kind::kInputGradient,
                .batch = 2,
                .input_features = 4,
                .output_features = 4,
                .groups = 4,
                .dimensions = {{7, 7, 2, 1, 1, 1, 0}, {7, 7, 2, 1, 1, 1, 0}}};
  const auto kernels = [](const Convolution& convolution) {
    xla::XlaBuilder builder("convolution");
    xla::Tuple(&builder, {Build(&builder, convolution, xla::F32)});
    return KernelsOf(builder.Build().value()).size();
  };
  EXPECT_EQ(kernels(c), 1);
  c.kind = Kind::kFilterGradient;
  EXPECT_EQ(kernels(c), 1);
  c.kind = Kind::kForward;
  EXPECT_EQ(kernels(c), 1);
  // "VALID"
  for (auto& dimension : c.dimensions) dimension = {7, 6, 2, 1, 1, 0, 0};
  for (const Kind kind : kKinds) {
    c.kind = kind;
    EXPECT_EQ(kernels(c), 1);
  }
}

XlaOp Relu(XlaOp x, xla::PrimitiveType type, bool zero_first) {
  const XlaOp zero = xla::Zero(x.builder(), type);
  return zero_first ? xla::Max(zero, x) : xla::Max(x, zero);
}

// A convolution with a bias, optionally followed by a ReLU.
xla::XlaComputation WithBias(const Convolution& c, xla::PrimitiveType type, bool relu, bool bias_first) {
  xla::XlaBuilder builder("convolution");
  const XlaOp convolved = Build(&builder, c, type);
  const XlaOp bias = xla::Parameter(&builder, 2, xla::ShapeUtil::MakeShape(type, {c.output_features}), "bias");
  const XlaOp wide = xla::BroadcastInDim(bias, Shape(c.batch, c.dimensions, &Dimension::output, c.output_features),
                                         {static_cast<int64_t>(c.dimensions.size()) + 1});
  const XlaOp sum = bias_first ? wide + convolved : convolved + wide;
  xla::Tuple(&builder, {relu ? Relu(sum, type, bias_first) : sum});
  return builder.Build().value();
}

// The expected kernel: with the bias if a kernel supports the bias, and in float32 if no kernel supports bfloat16.
Convolution Taken(Convolution c, xla::PrimitiveType type) {
  c.type = type == xla::BF16 ? Convolution::Type::kBfloat16 : Convolution::Type::kFloat32;
  c.bias = true;
  if (MakeKernel(c.Spec()).ok()) return c;
  c.bias = false;
  if (!MakeKernel(c.Spec()).ok()) c.type = Convolution::Type::kFloat32;
  return c;
}

TEST(ConvolutionPass, AddsBiasesInTheKernel) {
  if (IsTargetGeneric()) GTEST_SKIP() << "HPU_EMULATOR_TARGET=generic disables the kernel";
  int with_bias = 0;
  for (int seed = 0; seed < 90; seed += 3) {  // forward convolutions
    const Convolution c = RandomCase(seed);
    const bool relu = seed % 2 == 0, bias_first = seed % 4 < 2;
    SCOPED_TRACE(seed);
    for (const auto& [type, tolerance] : {std::pair(xla::F32, 2e-6), std::pair(xla::BF16, 1e-2)}) {
      const xla::XlaComputation computation = WithBias(c, type, relu, bias_first);
      ExpectSameWithKernels(computation, ArgumentsOf(computation), HasKernel(c) ? 1 : 0, tolerance);
      if (!HasKernel(c)) continue;
      const Convolution taken = Taken(c, type);
      EXPECT_TRUE(KernelsOf(computation).at(0) == taken.Spec());
      if (taken.bias) ++with_bias;
    }
  }
  EXPECT_EQ(with_bias > 10, IsOneDnnOn());
}

// The kernel does not add the bias if the result without the bias has another user.
TEST(ConvolutionPass, KeepsResultsWithOtherUsers) {
  if (IsTargetGeneric()) GTEST_SKIP() << "HPU_EMULATOR_TARGET=generic disables the kernel";
  const Convolution c{.batch = 2, .input_features = 4, .output_features = 4, .dimensions = {{7, 6, 2}, {7, 6, 2}}};
  xla::XlaBuilder builder("convolution");
  const XlaOp convolved = Build(&builder, c, xla::F32);
  const XlaOp bias = xla::Parameter(&builder, 2, xla::ShapeUtil::MakeShape(xla::F32, {4}), "bias");
  xla::Tuple(&builder, {xla::Add(convolved, bias, {3}), convolved});
  const std::vector<KernelSpec> kernels = KernelsOf(builder.Build().value());
  ASSERT_EQ(kernels.size(), 1);
  EXPECT_TRUE(kernels[0] == c.Spec());
}

// Results are NaN and infinite in the same places as without a kernel, even after a ReLU.
TEST(ConvolutionPass, KeepsNanAndInfinities) {
  const float inf = std::numeric_limits<float>::infinity();
  const Convolution c{.batch = 2,
                      .input_features = 4,
                      .output_features = 8,
                      .dimensions = {{9, 9, 3, 1, 1, 1, 1}, {9, 9, 3, 1, 1, 1, 1}}};
  const size_t kernels = IsTargetGeneric() ? 0 : 1;
  const xla::XlaComputation computation = WithBias(c, xla::F32, /*relu=*/true, /*bias_first=*/false);
  std::vector<xla::Literal> arguments = ArgumentsOf(computation);
  arguments[0].Set<float>({0, 4, 4, 0}, NAN);
  arguments[0].Set<float>({1, 0, 8, 3}, inf);
  ExpectSameAsEvaluator(computation, arguments, kernels, 2e-6);
  arguments[2].Set<float>({5}, NAN);
  arguments[2].Set<float>({6}, -inf);
  ExpectSameAsEvaluator(computation, arguments, kernels, 2e-6);
}

// Batch normalisation with given moments, a residual addition and a ReLU after a convolution.
xla::XlaComputation NormalisedResidual(const Convolution& c) {
  xla::XlaBuilder builder("residual");
  const XlaOp convolved = Build(&builder, c, xla::F32);
  const auto parameter = [&](int64_t number, const std::vector<int64_t>& dims) {
    return xla::Parameter(&builder, number, xla::ShapeUtil::MakeShape(xla::F32, dims), "p" + std::to_string(number));
  };
  const auto feature = [&](int64_t number) { return parameter(number, {c.output_features}); };
  const std::vector<int64_t> last = {static_cast<int64_t>(c.dimensions.size()) + 1};
  const XlaOp residual = parameter(2, Shape(c.batch, c.dimensions, &Dimension::output, c.output_features));
  const XlaOp variance = xla::Abs(feature(4)) + xla::ConstantR0<float>(&builder, 1e-3f);
  const XlaOp scaled =
      xla::Mul(xla::Sub(convolved, feature(3), last), xla::Mul(xla::Rsqrt(variance), feature(5)), last);
  xla::Tuple(&builder, {Relu(xla::Add(scaled, feature(6), last) + residual, xla::F32, /*zero_first=*/false)});
  return builder.Build().value();
}

// XLA fuses the elementwise work into one loop over the kernel's result.
TEST(ConvolutionPass, FusesFollowingInstructions) {
  if (IsTargetGeneric()) GTEST_SKIP() << "HPU_EMULATOR_TARGET=generic disables the kernel";
  const Convolution c{.batch = 2,
                      .input_features = 16,
                      .output_features = 32,
                      .dimensions = {{12, 12, 3, 1, 1, 1, 1}, {12, 12, 3, 1, 1, 1, 1}}};
  const xla::XlaComputation computation = NormalisedResidual(c);
  ExpectSameWithKernels(computation, ArgumentsOf(computation), 1, 1e-5);
  const std::unique_ptr<xla::HloModule> module = AfterXlaPasses(computation, [](xla::HloModule* before) {
    return UseKernels(before, /*replace=*/true, /*choice=*/nullptr).status();
  });
  ASSERT_TRUE(ReleaseValues(module.get()).ok());
  int kernels = 0, loops = 0;
  for (const xla::HloInstruction* instruction : module->entry_computation()->instructions()) {
    const xla::HloOpcode opcode = instruction->opcode();
    if (opcode == xla::HloOpcode::kCustomCall) {
      ++kernels;
    } else if (opcode != xla::HloOpcode::kParameter && opcode != xla::HloOpcode::kBitcast &&
               instruction->shape().IsArray() && xla::ShapeUtil::ElementsIn(instruction->shape()) == 2 * 12 * 12 * 32) {
      ++loops;
    }
  }
  EXPECT_EQ(kernels, 1);
  EXPECT_EQ(loops, 1) << module->ToString();
}

INSTANTIATE_TEST_SUITE_P(Random, ConvolutionPassTest, testing::Range(0, 120));

}  // namespace convolution_pass_test
}  // namespace hpu::emulator
