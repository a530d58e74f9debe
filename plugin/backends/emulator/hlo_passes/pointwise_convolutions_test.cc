// Tests of convolutions that become matrix products, against XLA.
#include "plugin/backends/emulator/hlo_passes/pointwise_convolutions.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "plugin/backends/emulator/kernels/compiler_target.h"
#include "plugin/backends/emulator/kernels/matmul.h"
#include "plugin/backends/emulator/kernels/one_dnn.h"
#include "plugin/testing/kernel_harness.h"
#include "plugin/testing/recipe_harness.h"
#include "xla/hlo/builder/xla_builder.h"

namespace hpu::emulator {
namespace pointwise_convolutions_test {

using xla::XlaOp;

// A convolution as tf2xla emits it, of a filter [window, window, in, out] and an image [batch, size, size, in].
struct Layer {
  int64_t batch = 2;
  int64_t size = 12;
  int64_t in = 40;
  int64_t out = 96;
  int64_t window = 1;
  int64_t stride = 1;
  int64_t padding = 0;
  xla::PrimitiveType type = xla::F32;

  int64_t result() const { return (size + 2 * padding - window) / stride + 1; }
};

enum class Kind { kForward, kInputGradient, kFilterGradient };

xla::ConvolutionDimensionNumbers Numbers(Kind kind) {
  const bool by_batch = kind == Kind::kFilterGradient;
  xla::ConvolutionDimensionNumbers numbers;
  numbers.set_input_batch_dimension(by_batch ? 3 : 0);
  numbers.set_input_feature_dimension(by_batch ? 0 : 3);
  numbers.set_kernel_input_feature_dimension(by_batch ? 0 : kind == Kind::kInputGradient ? 3 : 2);
  numbers.set_kernel_output_feature_dimension(kind == Kind::kInputGradient ? 2 : 3);
  numbers.set_output_batch_dimension(by_batch ? 2 : 0);
  numbers.set_output_feature_dimension(3);
  for (int64_t i = 0; i < 2; ++i) {
    numbers.add_input_spatial_dimensions(i + 1);
    numbers.add_kernel_spatial_dimensions(by_batch ? i + 1 : i);
    numbers.add_output_spatial_dimensions(by_batch ? i : i + 1);
  }
  return numbers;
}

xla::XlaComputation Convolve(const Layer& l, Kind kind) {
  xla::XlaBuilder builder("convolution");
  const auto parameter = [&](int64_t number, const std::vector<int64_t>& dims) {
    return xla::Parameter(&builder, number, xla::ShapeUtil::MakeShape(l.type, dims), "p" + std::to_string(number));
  };
  const std::vector<int64_t> image = {l.batch, l.size, l.size, l.in}, filter = {l.window, l.window, l.in, l.out};
  const std::vector<int64_t> result = {l.batch, l.result(), l.result(), l.out}, ones = {1, 1}, strides(2, l.stride);
  const auto padding = [](int64_t low, int64_t high) {
    return std::vector<std::pair<int64_t, int64_t>>(2, {low, high});
  };
  const int64_t used = (l.result() - 1) * l.stride + l.window;
  XlaOp made;
  switch (kind) {
    case Kind::kForward:
      made = xla::ConvGeneralDilated(parameter(0, image), parameter(1, filter), strides, padding(l.padding, l.padding),
                                     ones, ones, Numbers(kind));
      break;
    case Kind::kInputGradient:
      made = xla::ConvGeneralDilated(parameter(0, result), xla::Rev(parameter(1, filter), {0, 1}), ones,
                                     padding(l.window - 1 - l.padding, l.window - 1 + l.size + l.padding - used),
                                     strides, ones, Numbers(kind));
      break;
    case Kind::kFilterGradient:
      made = xla::ConvGeneralDilated(parameter(0, image), parameter(1, result), ones,
                                     padding(l.padding, used - l.size - l.padding), ones, strides, Numbers(kind));
      break;
  }
  xla::Tuple(&builder, {made});
  return builder.Build().value();
}

constexpr Kind kKinds[] = {Kind::kForward, Kind::kInputGradient, Kind::kFilterGradient};

// Number of remaining convolutions.
int Convolutions(const xla::XlaComputation& computation) {
  const auto module = ModuleOf(computation);
  EXPECT_TRUE(MakeProductsOfPointwiseConvolutions(module.get()).ok());
  int count = 0;
  for (const auto* instruction : module->entry_computation()->instructions()) {
    if (instruction->opcode() == xla::HloOpcode::kConvolution) ++count;
  }
  return count;
}

TEST(PointwiseConvolutions, AreOneKernelForProducts) {
  if (IsTargetGeneric() || !IsOneDnnOn()) GTEST_SKIP() << "the kernel requires oneDNN and HPU_EMULATOR_TARGET=native";
  const Layer layer;
  const int64_t pixels = layer.batch * layer.size * layer.size;
  const MatMul products[] = {{false, false, false, pixels, layer.in, layer.out},
                             {false, false, true, pixels, layer.out, layer.in},
                             {false, true, false, layer.in, pixels, layer.out}};
  for (int i = 0; i < 3; ++i) {
    const std::vector<KernelSpec> kernels = KernelsOf(Convolve(layer, kKinds[i]));
    ASSERT_EQ(kernels.size(), 1) << i;
    EXPECT_TRUE(kernels[0] == products[i].Spec()) << i;
  }
}

TEST(PointwiseConvolutions, EqualXla) {
  const size_t kernels = IsTargetGeneric() ? 0 : 1;
  for (const Kind kind : kKinds) {
    for (const xla::PrimitiveType type : {xla::F32, xla::BF16}) {
      SCOPED_TRACE(static_cast<int>(kind));
      Layer layer;
      layer.type = type;
      const double tolerance = type == xla::F32 ? 1e-5 : 1e-2;
      const xla::XlaComputation larger = Convolve(layer, kind);
      ExpectSameWithKernels(larger, ArgumentsOf(larger), kernels, tolerance);
      // A filter as large as the image, and images of one pixel.
      for (const Layer& other : {Layer{4, 8, 32, 128, 8, 1, 0, type}, Layer{40, 1, 200, 150, 1, 1, 0, type}}) {
        const xla::XlaComputation computation = Convolve(other, kind);
        ExpectSameWithKernels(computation, ArgumentsOf(computation), kernels, tolerance);
      }
    }
  }
}

TEST(PointwiseConvolutions, LeavesUnsupportedUnchanged) {
  for (const Kind kind : kKinds) {
    EXPECT_EQ(Convolutions(Convolve({2, 12, 40, 96, 3, 1, 0}, kind)), 1) << "a 3x3 window";
    EXPECT_EQ(Convolutions(Convolve({2, 12, 40, 96, 1, 2, 0}, kind)), 1) << "strides";
    EXPECT_EQ(Convolutions(Convolve({2, 12, 40, 96, 1, 1, 1}, kind)), 1) << "padding";
    EXPECT_EQ(Convolutions(Convolve({2, 3, 7, 5, 1, 1, 0}, kind)), 1) << "a small convolution";
  }
}

}  // namespace pointwise_convolutions_test
}  // namespace hpu::emulator
