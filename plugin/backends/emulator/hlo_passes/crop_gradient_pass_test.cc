// Tests of gradients of image crops against XLA and explicit sums.
#include "plugin/backends/emulator/hlo_passes/crop_gradient_pass.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "plugin/backends/emulator/codegen/compiler.h"
#include "plugin/backends/emulator/codegen/recipe_harness.h"
#include "plugin/backends/emulator/hlo_passes/kernel_harness.h"
#include "plugin/backends/emulator/kernels/crop_gradient.h"
#include "plugin/program/marked_call.h"
#include "xla/client/lib/constants.h"
#include "xla/client/xla_builder.h"

namespace hpu::emulator {
namespace crop_gradient_pass_test {

using Of = CropGradient::Of;
using Floats = std::vector<float>;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Arguments {
  Arguments(const CropGradient& sizes, uint32_t seed) : dice(seed) {
    gradient = Numbers(sizes.boxes * sizes.rows * sizes.columns * sizes.channels);
    images = Numbers(sizes.images * sizes.height * sizes.width * sizes.channels);
    y = Places(sizes.boxes * sizes.rows, sizes.height);
    x = Places(sizes.boxes * sizes.columns, sizes.width);
    // Includes images that do not exist.
    for (int64_t i = 0; i < sizes.boxes; ++i) image_of_box.push_back(dice.Roll(dice.Roll(-1, 0), sizes.images));
  }

  Floats Numbers(int64_t count) {
    Floats numbers;
    for (int64_t i = 0; i < count; ++i) numbers.push_back(static_cast<float>(dice.Roll(-64, 64)) / 64);
    return numbers;
  }
  // Positions on pixels, between pixels, at the border and outside.
  Floats Places(int64_t count, int64_t length) {
    Floats places;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t kind = dice.Roll(0, 5);
      const float place = static_cast<float>(dice.Roll(0, 16 * (length - 1))) / 16;
      places.push_back(kind == 0 ? -1.0f : kind == 1 ? static_cast<float>(length - 1) : std::min(place, length - 1.0f));
    }
    return places;
  }

  Dice dice;
  Floats gradient, images, y, x;
  std::vector<int32_t> image_of_box;
};

Floats Compute(const CropGradient& sizes, const Arguments& arguments, int threads) {
  auto kernel = MakeKernel(sizes.Spec());
  EXPECT_TRUE(kernel.ok()) << kernel.status();
  const bool of_image = sizes.of == Of::kImage;
  Floats result(of_image ? arguments.images.size() : sizes.boxes * (sizes.rows + sizes.columns), -7.0f);
  std::vector<const void*> operands = {arguments.gradient.data(), arguments.images.data(), arguments.y.data(),
                                       arguments.x.data(), arguments.image_of_box.data()};
  if (of_image) operands.erase(operands.begin() + 1);
  void* to = result.data();
  ComputePool pool(threads);
  EXPECT_TRUE((*kernel)->Run({operands.data(), &to, nullptr, pool}).ok());
  return result;
}

// The kernel's expected result, computed in double pixel by pixel.
std::vector<double> Expected(const CropGradient& sizes, const Arguments& arguments) {
  const bool of_image = sizes.of == Of::kImage;
  std::vector<double> result(of_image ? arguments.images.size() : sizes.boxes * (sizes.rows + sizes.columns));
  const int64_t places = sizes.rows + sizes.columns;
  for (int64_t box = 0; box < sizes.boxes; ++box) {
    const int64_t image = arguments.image_of_box[box];
    if (image < 0 || image >= sizes.images) continue;
    for (int64_t i = 0; i < sizes.rows * sizes.columns; ++i) {
      const int64_t row = i / sizes.columns, column = i % sizes.columns;
      const float y = arguments.y[box * sizes.rows + row], x = arguments.x[box * sizes.columns + column];
      if (y < 0 || x < 0) continue;
      const double below = y - std::floor(y), right = x - std::floor(x);
      const int64_t top = static_cast<int64_t>(y), left = static_cast<int64_t>(x);
      const int64_t bottom = static_cast<int64_t>(std::ceil(y)), last = static_cast<int64_t>(std::ceil(x));
      for (int64_t channel = 0; channel < sizes.channels; ++channel) {
        const auto at = [&](int64_t r, int64_t c) {
          return ((image * sizes.height + r) * sizes.width + c) * sizes.channels + channel;
        };
        const double gradient =
            arguments.gradient[((box * sizes.rows + row) * sizes.columns + column) * sizes.channels + channel];
        if (of_image) {
          result[at(top, left)] += (1 - below) * (1 - right) * gradient;
          result[at(top, last)] += (1 - below) * right * gradient;
          result[at(bottom, left)] += below * (1 - right) * gradient;
          result[at(bottom, last)] += below * right * gradient;
        } else {
          const double top_left = arguments.images[at(top, left)], top_right = arguments.images[at(top, last)],
                       bottom_left = arguments.images[at(bottom, left)],
                       bottom_right = arguments.images[at(bottom, last)];
          result[box * places + row] +=
              gradient * ((1 - right) * (bottom_left - top_left) + right * (bottom_right - top_right));
          result[box * places + sizes.rows + column] +=
              gradient * ((1 - below) * (top_right - top_left) + below * (bottom_right - bottom_left));
        }
      }
    }
  }
  return result;
}

CropGradient RandomSizes(uint32_t seed) {
  Dice dice(seed);
  CropGradient sizes;
  sizes.of = seed % 2 == 0 ? Of::kImage : Of::kPlaces;
  sizes.boxes = dice.Roll(1, 12);
  sizes.rows = dice.Roll(1, 9);
  sizes.columns = dice.Roll(1, 9);
  sizes.images = dice.Roll(1, 3);
  sizes.height = dice.Roll(1, 20);
  sizes.width = dice.Roll(1, 20);
  sizes.channels = dice.Roll(0, 1) == 0 ? dice.Roll(1, 7) : dice.Roll(60, 90);
  if (dice.Roll(0, 3) == 0) sizes.channels = 1 + 4096 / sizes.width;  // a row is a piece
  return sizes;
}

class CropGradientTest : public testing::TestWithParam<int> {};

TEST_P(CropGradientTest, EqualsSumsWrittenOut) {
  const CropGradient sizes = RandomSizes(GetParam());
  SCOPED_TRACE(testing::PrintToString(sizes.Spec().parameters));
  const Arguments arguments(sizes, GetParam());
  const Floats result = Compute(sizes, arguments, 2);
  const std::vector<double> expected = Expected(sizes, arguments);
  ASSERT_EQ(result.size(), expected.size());
  for (size_t i = 0; i < result.size(); ++i) ASSERT_NEAR(result[i], expected[i], 1e-4 * (1 + std::abs(expected[i])));
  EXPECT_EQ(Compute(sizes, arguments, 1), result) << "depends on the threads";
}

INSTANTIATE_TEST_SUITE_P(Random, CropGradientTest, testing::Range(0, 40));

// Expects zero where a pixel has no weight.
TEST(CropGradient, OthersDoNotCount) {
  CropGradient sizes{Of::kImage, 1, 2, 2, 1, 3, 3, 5};
  Arguments arguments(sizes, 0);
  arguments.image_of_box = {0};
  arguments.y = {1, -1};
  arguments.x = {2, std::nanf("")};
  std::fill(arguments.gradient.begin(), arguments.gradient.end(), kInfinity);
  std::fill_n(arguments.gradient.begin(), 5, 2.0f);
  Floats expected(45, 0.0f);
  std::fill_n(expected.begin() + (3 + 2) * 5, 5, 2.0f);
  EXPECT_EQ(Compute(sizes, arguments, 1), expected);
  // Positions outside the image contribute to no pixel.
  arguments.y = {3, kInfinity};
  EXPECT_EQ(Compute(sizes, arguments, 1), Floats(45, 0.0f));
  sizes.of = Of::kPlaces;
  EXPECT_EQ(Compute(sizes, arguments, 1), Floats(4, 0.0f));
}

TEST(CropGradient, RefusesOtherParameters) {
  const KernelSpec spec = CropGradient{Of::kPlaces, 1, 2, 2, 1, 3, 3, 5}.Spec();
  EXPECT_TRUE(MakeKernel(spec).ok());
  for (size_t i = 0; i < spec.parameters.size(); ++i) {
    for (const int64_t wrong : {int64_t{-1}, i == 0 ? int64_t{2} : int64_t{0}, int64_t{1} << 40}) {
      KernelSpec other = spec;
      other.parameters[i] = wrong;
      EXPECT_FALSE(MakeKernel(other).ok()) << i << ": " << wrong;
    }
  }
  KernelSpec shorter = spec;
  shorter.parameters.pop_back();
  EXPECT_FALSE(MakeKernel(shorter).ok());
}

// A call with attribute `value` whose computation is a different one.
xla::XlaComputation Program(const CropGradient& sizes, const char* value, bool images, xla::PrimitiveType index,
                            int64_t channels) {
  xla::XlaBuilder builder("program");
  const xla::Shape crops = xla::ShapeUtil::MakeShape(xla::F32, {sizes.boxes, sizes.rows, sizes.columns, channels});
  const xla::Shape image =
      xla::ShapeUtil::MakeShape(xla::F32, {sizes.images, sizes.height, sizes.width, sizes.channels});
  std::vector<xla::Shape> shapes = {crops, image, xla::ShapeUtil::MakeShape(xla::F32, {sizes.boxes, sizes.rows}),
                                    xla::ShapeUtil::MakeShape(xla::F32, {sizes.boxes, sizes.columns}),
                                    xla::ShapeUtil::MakeShape(index, {sizes.boxes})};
  if (!images) shapes.erase(shapes.begin() + 1);
  const auto body = builder.CreateSubBuilder("body");
  std::vector<xla::XlaOp> operands;
  for (size_t i = 0; i < shapes.size(); ++i) {
    const std::string name = "p" + std::to_string(i);
    operands.push_back(xla::Parameter(&builder, i, shapes[i], name));
    xla::Parameter(body.get(), i, shapes[i], name);
  }
  xla::Zeros(body.get(),
             images ? xla::ShapeUtil::MakeShape(xla::F32, {sizes.boxes, sizes.rows + sizes.columns}) : image);
  const xla::XlaComputation computation = body->Build().value();
  xla::FrontendAttributes attributes;
  (*attributes.mutable_map())[kOperationAttribute] = absl::StrCat(kCropGradient, " ", value);
  const xla::XlaOp call = [&] {
    const xla::XlaScopedFrontendAttributesAssignment scope(&builder, attributes);
    return xla::Call(&builder, computation, operands);
  }();
  xla::Tuple(&builder, {call});
  return builder.Build().value();
}

TEST(CropGradientPass, TakesWhatItKnows) {
  const CropGradient sizes{Of::kImage, 3, 2, 4, 2, 5, 6, 7};
  const std::string name = sizes.Spec().name;
  const auto count = [&](const char* value, bool images, xla::PrimitiveType index = xla::S32, int64_t channels = 7) {
    return CountKernels(Program(sizes, value, images, index, channels), name);
  };
  EXPECT_EQ(count(kImageGradient, false), 1u);
  EXPECT_EQ(count(kPlacesGradient, true), 1u);
  EXPECT_EQ(count(kImageGradient, true), 0u) << "of other operands";
  EXPECT_EQ(count(kPlacesGradient, false), 0u) << "of other operands";
  EXPECT_EQ(count("other", true), 0u) << "of another name";
  EXPECT_EQ(count(kImageGradient, false, xla::S64), 0u) << "of another type";
  EXPECT_EQ(count(kImageGradient, false, xla::S32, 6), 0u) << "of other images";
}

}  // namespace crop_gradient_pass_test
}  // namespace hpu::emulator
