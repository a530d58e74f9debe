// Tests of batch normalisation and its gradient against XLA.
#include "plugin/backends/emulator/hlo_passes/batch_norm_pass.h"

#include <gtest/gtest.h>

#include <cmath>

#include "plugin/backends/emulator/kernels/batch_norm.h"
#include "plugin/testing/kernel_harness.h"
#include "plugin/testing/recipe_harness.h"
#include "xla/hlo/builder/xla_builder.h"

namespace hpu::emulator {
namespace batch_norm_pass_test {

using xla::XlaOp;

// Result `index` of the training op, or of its gradient. bfloat16 images are converted to float32 first.
xla::XlaComputation Norm(const std::vector<int64_t>& dims, bool gradient, int64_t index, int64_t feature_index,
                         xla::PrimitiveType image_type = xla::F32, xla::PrimitiveType gradient_type = xla::F32) {
  xla::XlaBuilder builder("norm");
  const auto image_of = [&](int64_t number, xla::PrimitiveType type) {
    const XlaOp image = xla::Parameter(&builder, number, xla::ShapeUtil::MakeShape(type, dims), "image");
    return type == xla::F32 ? image : xla::ConvertElementType(image, xla::F32);
  };
  const xla::Shape one = xla::ShapeUtil::MakeShape(xla::F32, {dims[feature_index]});
  const auto parameter = [&](int64_t number, const xla::Shape& shape) {
    return xla::Parameter(&builder, number, shape, "p" + std::to_string(number));
  };
  XlaOp image = image_of(0, image_type), scale = parameter(1, one), third = parameter(2, one);
  XlaOp norm;
  if (gradient) {
    // A variance must be positive.
    XlaOp variance = xla::Abs(parameter(3, one));
    norm = xla::BatchNormGrad(image, scale, third, variance, image_of(4, gradient_type), 0.01f, feature_index);
  } else {
    norm = xla::BatchNormTraining(image, scale, third, 0.01f, feature_index);
  }
  xla::Tuple(&builder, {xla::GetTupleElement(norm, index)});
  return builder.Build().value();
}

class BatchNormPassTest : public testing::TestWithParam<int> {};

TEST_P(BatchNormPassTest, EqualsXla) {
  Dice dice(GetParam());
  constexpr int64_t kFeatures[] = {1, 3, 16, 63, 64, 65, 300, 2049};
  std::vector<int64_t> dims;
  for (int64_t i = dice.Roll(1, 3); i > 0; --i) dims.push_back(dice.Roll(1, 9));
  dims.push_back(kFeatures[GetParam() % 8]);
  for (const bool gradient : {false, true}) {
    for (int64_t index = 0; index < 3; ++index) {
      SCOPED_TRACE(testing::PrintToString(dims) + (gradient ? " gradient " : " training ") + std::to_string(index));
      const xla::XlaComputation computation = Norm(dims, gradient, index, dims.size() - 1);
      ExpectSameWithKernels(computation, ArgumentsOf(computation), 1, 2e-5);
    }
  }
}

// The kernels read bfloat16 images directly, without a conversion. The gradient's kernel does so only if both images
// are bfloat16.
TEST_P(BatchNormPassTest, ReadsBfloat16) {
  Dice dice(GetParam());
  constexpr int64_t kFeatures[] = {1, 3, 16, 63, 64, 65, 300, 2049};
  const int64_t features = kFeatures[GetParam() % 8];
  // Small images, because the evaluator is slow. Images with 2049 features have the fewest rows that need two pieces.
  const std::vector<int64_t> dims =
      features > 2000 ? std::vector<int64_t>{3, 6, features}
                      : std::vector<int64_t>{dice.Roll(1, 9), dice.Roll(1, features > 100 ? 9 : 40), features};
  const auto is_bfloat16 = [](const xla::XlaComputation& computation) {
    return KernelsOf(computation).at(0).parameters.back() == 1;
  };
  for (int64_t index = 0; index < 3; ++index) {
    SCOPED_TRACE(testing::PrintToString(dims) + std::to_string(index));
    const xla::XlaComputation training = Norm(dims, false, index, 2, xla::BF16);
    EXPECT_TRUE(is_bfloat16(training));
    ExpectSameWithKernels(training, ArgumentsOf(training), 1, 2e-5);
    for (const xla::PrimitiveType type : {xla::F32, xla::BF16}) {
      const xla::XlaComputation gradient = Norm(dims, true, index, 2, xla::BF16, type);
      EXPECT_EQ(is_bfloat16(gradient), type == xla::BF16);
      ExpectSameWithKernels(gradient, ArgumentsOf(gradient), 1, 2e-5);
    }
    EXPECT_FALSE(is_bfloat16(Norm(dims, true, index, 2, xla::F32, xla::BF16)));
  }
}

INSTANTIATE_TEST_SUITE_P(Random, BatchNormPassTest, testing::Range(0, 24));

// Many rows in several pieces, with a mean that is large compared to the deviation.
TEST(BatchNormPass, VarianceAroundALargeMean) {
  constexpr int64_t kRows = 9000, kFeatures = 40;
  const xla::XlaComputation computation = Norm({kRows, kFeatures}, false, 2, 1);
  std::vector<xla::Literal> arguments = ArgumentsOf(computation);
  for (float& value : arguments[0].data<float>()) value += 1000;
  const auto variances = ElementsOf<float>(ResultOf(computation, arguments));
  ASSERT_EQ(variances.size(), kFeatures);
  for (int64_t c = 0; c < kFeatures; ++c) {
    double sum = 0, squares = 0;
    for (int64_t r = 0; r < kRows; ++r) sum += arguments[0].Get<float>({r, c});
    for (int64_t r = 0; r < kRows; ++r) squares += std::pow(arguments[0].Get<float>({r, c}) - sum / kRows, 2);
    EXPECT_NEAR(variances[c], squares / kRows, 1e-4) << "feature " << c;
  }
}

// There are no elements, so moments are 0 / 0.
TEST(BatchNormPass, LeavesArraysWithoutElements) {
  for (const std::vector<int64_t>& dims : {std::vector<int64_t>{0, 16}, {4, 0, 16}, {9, 0}}) {
    for (const bool gradient : {false, true}) {
      for (int64_t index = 0; index < 3; ++index) {
        SCOPED_TRACE(testing::PrintToString(dims) + (gradient ? " gradient " : " training ") + std::to_string(index));
        const xla::XlaComputation computation = Norm(dims, gradient, index, dims.size() - 1);
        ExpectSameWithKernels(computation, ArgumentsOf(computation), 0, 1e-5);
      }
    }
  }
  EXPECT_FALSE(MakeKernel(BatchMoments{0, 16}.Spec()).ok());
  EXPECT_FALSE(MakeKernel(BatchGradientSums{16, 0}.Spec()).ok());
}

TEST(BatchNormPass, LeavesFeaturesThatAreNotLast) {
  EXPECT_EQ(KernelsOf(Norm({2, 5, 8}, false, 0, 1)).size(), 0);
  EXPECT_EQ(KernelsOf(Norm({2, 5, 8}, true, 0, 1)).size(), 0);
}

}  // namespace batch_norm_pass_test
}  // namespace hpu::emulator
