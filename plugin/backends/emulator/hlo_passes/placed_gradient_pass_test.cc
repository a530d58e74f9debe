// Tests of gradients with positions against explicit sums.
#include "plugin/backends/emulator/hlo_passes/placed_gradient_pass.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/backends/emulator/hlo_passes/kernel_harness.h"
#include "plugin/backends/emulator/kernels/placed_gradient.h"
#include "plugin/program/marked_call.h"
#include "xla/client/lib/constants.h"
#include "xla/client/xla_builder.h"
#include "xla/shape_util.h"

namespace hpu::emulator {
namespace placed_gradient_pass_test {

constexpr int64_t kFarthest = std::numeric_limits<int64_t>::max();

struct Arguments {
  std::vector<float> gradient;
  std::vector<int64_t> places;
};

// Integers, whose sums are equal in any order. `strays` adds positions in other images and outside of all images.
Arguments RandomArguments(const PlacedGradient& sizes, Dice* dice, bool strays) {
  Arguments arguments;
  for (int64_t i = 0; i < sizes.batch * sizes.numbers; ++i) {
    const int64_t origin = sizes.of_batch ? i / sizes.numbers * sizes.elements : 0, all = sizes.batch * sizes.elements;
    int64_t place = origin + dice->Roll(0, sizes.elements - 1);
    if (strays && dice->Roll(0, 3) == 0) place = dice->Roll(-all, 2 * all);
    if (strays && dice->Roll(0, 9) == 0) place = dice->Roll(0, 1) == 0 ? kFarthest : -kFarthest - 1;
    arguments.gradient.push_back(static_cast<float>(dice->Roll(-9, 9)));
    arguments.places.push_back(place);
  }
  return arguments;
}

std::vector<float> Expected(const PlacedGradient& sizes, const Arguments& arguments) {
  std::vector<float> images(sizes.batch * sizes.elements);
  for (size_t i = 0; i < arguments.gradient.size(); ++i) {
    const int64_t place = arguments.places[i];
    const int64_t begin = sizes.of_batch ? 0 : static_cast<int64_t>(i) / sizes.numbers * sizes.elements;
    if (place < -begin || place >= static_cast<int64_t>(images.size()) - begin) continue;
    images[begin + place] += arguments.gradient[i];
  }
  return images;
}

PlacedGradient RandomSizes(Dice* dice) {
  PlacedGradient sizes;
  sizes.of_batch = dice->Roll(0, 1) == 1;
  sizes.batch = dice->Roll(1, 9);
  sizes.numbers = dice->Roll(0, 1) == 0 ? dice->Roll(1, 9) : dice->Roll(1000, 3000);
  sizes.elements = dice->Roll(0, 1) == 0 ? dice->Roll(1, 9) : dice->Roll(1000, 9000);
  return sizes;
}

class PlacedGradientTest : public testing::TestWithParam<int> {};

TEST_P(PlacedGradientTest, EqualsSumsWrittenOut) {
  Dice dice(GetParam());
  const PlacedGradient sizes = RandomSizes(&dice);
  SCOPED_TRACE(testing::PrintToString(sizes.Spec().parameters));
  const Arguments arguments = RandomArguments(sizes, &dice, GetParam() % 2 == 1);
  const std::vector<float> expected = Expected(sizes, arguments);
  const std::string result =
      RunKernel(sizes.Spec(), {BytesOf(arguments.gradient), BytesOf(arguments.places)}, BytesOf(expected).size());
  EXPECT_EQ(ElementsOf<float>(result), expected);
}

INSTANTIATE_TEST_SUITE_P(Random, PlacedGradientTest, testing::Range(0, 40));

TEST(PlacedGradient, KeepsNanAndBeginsWithZero) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> gradient = {nan, -0.0f, 1, 2};
  const std::vector<int64_t> places = {2, 0, 1, 1};
  const std::string result = RunKernel(PlacedGradient{false, 1, 4, 4}.Spec(), {BytesOf(gradient), BytesOf(places)}, 16);
  const std::vector<float> sums = ElementsOf<float>(result);
  EXPECT_FALSE(std::signbit(sums[0]));
  EXPECT_EQ(sums[1], 3);
  EXPECT_TRUE(std::isnan(sums[2]));
  EXPECT_EQ(sums[3], 0);
}

TEST(PlacedGradient, RefusesOtherParameters) {
  const KernelSpec spec = PlacedGradient{true, 1, 2, 3}.Spec();
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

// A call with attribute `of`; its operands may have wrong types or shapes.
xla::XlaComputation Program(const char* of, xla::PrimitiveType places, int64_t batch, int64_t count) {
  xla::XlaBuilder builder("program");
  const std::vector<xla::Shape> shapes = {xla::ShapeUtil::MakeShape(xla::F32, {3, 8}),
                                          xla::ShapeUtil::MakeShape(places, {3, count})};
  const auto body = builder.CreateSubBuilder("body");
  std::vector<xla::XlaOp> operands;
  for (size_t i = 0; i < shapes.size(); ++i) {
    const std::string name = "p" + std::to_string(i);
    operands.push_back(xla::Parameter(&builder, i, shapes[i], name));
    xla::Parameter(body.get(), i, shapes[i], name);
  }
  xla::Zeros(body.get(), xla::ShapeUtil::MakeShape(xla::F32, {batch, 20}));
  const xla::XlaComputation computation = body->Build().value();
  xla::FrontendAttributes attributes;
  (*attributes.mutable_map())[kOperationAttribute] = absl::StrCat(kPlacedGradient, " ", of);
  const xla::XlaOp call = [&] {
    const xla::XlaScopedFrontendAttributesAssignment scope(&builder, attributes);
    return xla::Call(&builder, computation, operands);
  }();
  xla::Tuple(&builder, {call});
  return builder.Build().value();
}

TEST(PlacedGradientPass, TakesWhatItKnows) {
  const std::string name = PlacedGradient().Spec().name;
  const auto count = [&](const char* of, xla::PrimitiveType places = xla::S64, int64_t batch = 3, int64_t count = 8) {
    return CountKernels(Program(of, places, batch, count), name);
  };
  EXPECT_EQ(count(kPlacesOfImage), 1u);
  EXPECT_EQ(count(kPlacesOfBatch), 1u);
  EXPECT_EQ(count("other"), 0u) << "of another name";
  EXPECT_EQ(count(kPlacesOfImage, xla::S32), 0u) << "of another type";
  EXPECT_EQ(count(kPlacesOfImage, xla::S64, 4), 0u) << "of another batch";
  EXPECT_EQ(count(kPlacesOfImage, xla::S64, 3, 9), 0u) << "of other numbers";
}

}  // namespace placed_gradient_pass_test
}  // namespace hpu::emulator
