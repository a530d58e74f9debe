// Tests of Fourier transforms against XLA.
#include "plugin/backends/emulator/hlo_passes/fourier_pass.h"

#include <gtest/gtest.h>

#include "plugin/backends/emulator/kernels/compiler_target.h"
#include "plugin/backends/emulator/kernels/fourier_transform.h"
#include "plugin/testing/kernel_harness.h"
#include "plugin/testing/recipe_harness.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/xla_builder.h"

namespace hpu::emulator {
namespace fourier_pass_test {

using xla::FftType;
using xla::XlaOp;

std::vector<int64_t> Joined(std::vector<int64_t> a, const std::vector<int64_t>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// A transform of float32 parameters: real parts and, if the operand is complex, imaginary parts. Returns the result's
// real parts, then its imaginary parts.
xla::XlaComputation Transform(FftType type, xla::PrimitiveType real, const std::vector<int64_t>& batch,
                              const std::vector<int64_t>& lengths) {
  xla::XlaBuilder builder("transform");
  std::vector<int64_t> dims = Joined(batch, lengths);
  if (type == FftType::IRFFT) dims.back() = lengths.back() / 2 + 1;
  const auto parameter = [&](int64_t number) {
    const std::string name = "p" + std::to_string(number);
    return xla::ConvertElementType(xla::Parameter(&builder, number, xla::ShapeUtil::MakeShape(xla::F32, dims), name),
                                   real);
  };
  const XlaOp operand = type == FftType::RFFT ? parameter(0) : xla::Complex(parameter(0), parameter(1));
  XlaOp result = xla::Fft(operand, type, lengths);
  if (type != FftType::IRFFT) {
    result = xla::ConcatInDim(&builder, {xla::Real(result), xla::Imag(result)}, static_cast<int64_t>(dims.size()) - 1);
  }
  xla::Tuple(&builder, {xla::ConvertElementType(result, xla::F32)});
  return builder.Build().value();
}

void ExpectSame(const xla::XlaComputation& computation, size_t kernels) {
  EXPECT_EQ(CountKernels(computation, "fourier_transform.1"), IsTargetGeneric() ? 0 : kernels);
  ExpectSameAsXla(computation, ArgumentsOf(computation), 1e-5);
}

TEST(FourierPass, RandomTransforms) {
  for (uint32_t seed = 0; seed < 30; ++seed) {
    Dice dice(seed);
    const auto type = static_cast<FftType>(dice.Roll(0, 3));
    const xla::PrimitiveType real = dice.Roll(0, 3) == 0 ? xla::F64 : xla::F32;
    std::vector<int64_t> batch, lengths;
    for (int64_t i = dice.Roll(0, 2); i > 0; --i) batch.push_back(dice.Roll(1, 4));
    for (int64_t i = dice.Roll(1, 3); i > 0; --i) lengths.push_back(dice.Roll(1, 3) == 1 ? 1 : dice.Roll(1, 40));
    const xla::XlaComputation computation = Transform(type, real, batch, lengths);
    SCOPED_TRACE(seed);
    // Does not compare with the evaluator, whose time is quadratic in the number of elements.
    ExpectSame(computation, 1);
  }
}

TEST(FourierPass, AgainstTheEvaluator) {
  for (FftType type : {FftType::FFT, FftType::IFFT, FftType::RFFT, FftType::IRFFT}) {
    for (const std::vector<int64_t>& lengths : {std::vector<int64_t>{1}, {2}, {15}, {32}, {4, 6}, {3, 2, 5}}) {
      const xla::XlaComputation computation = Transform(type, xla::F32, {3}, lengths);
      SCOPED_TRACE(testing::Message() << type << " of " << testing::PrintToString(lengths));
      ExpectSameAsEvaluator(computation, ArgumentsOf(computation), IsTargetGeneric() ? 0 : 1, 1e-5);
    }
  }
}

TEST(FourierPass, LeavesTransformsWithoutElements) {
  for (FftType type : {FftType::FFT, FftType::RFFT, FftType::IRFFT}) {
    const xla::XlaComputation computation = Transform(type, xla::F32, {0, 2}, {8});
    ExpectSame(computation, 0);
  }
}

TEST(FourierPass, RefusesOtherParameters) {
  EXPECT_TRUE(MakeKernel(FourierTransform{FourierTransform::Kind::kFromReal, true, 2, {8, 4}}.Spec()).ok());
  for (const std::vector<int64_t>& parameters :
       {std::vector<int64_t>{}, {0, 0, 1}, {4, 0, 1, 8}, {0, 2, 1, 8}, {0, 0, 0, 8}, {0, 0, 1, 2, 2, 2, 2}}) {
    EXPECT_EQ(MakeKernel({"fourier_transform.1", parameters}).status().code(), absl::StatusCode::kInvalidArgument);
  }
}

}  // namespace fourier_pass_test
}  // namespace hpu::emulator
