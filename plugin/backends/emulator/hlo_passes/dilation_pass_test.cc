// Tests of dilations of images and their gradients against the explicit definition.
#include "plugin/backends/emulator/hlo_passes/dilation_pass.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/backends/emulator/hlo_passes/kernel_harness.h"
#include "plugin/backends/emulator/kernels/dilation.h"
#include "plugin/program/marked_call.h"
#include "xla/client/lib/constants.h"
#include "xla/client/xla_builder.h"
#include "xla/shape_util.h"

namespace hpu::emulator {
namespace dilation_pass_test {

using Of = Dilation::Of;
using Floats = std::vector<float>;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kLowest = std::numeric_limits<float>::lowest();

int64_t SpanOf(const Dilation::Dimension& d) { return (d.window - 1) * d.rate + 1; }

// Padding before the first pixel.
int64_t PadOf(const Dilation& sizes, const Dilation::Dimension& d) {
  return sizes.same_padding ? std::max<int64_t>((d.output - 1) * d.stride + SpanOf(d) - d.input, 0) / 2 : 0;
}

Dilation::Dimension RandomDimension(bool same_padding, Dice* dice) {
  Dilation::Dimension d;
  d.window = dice->Roll(1, 5);
  d.stride = dice->Roll(0, 1) == 0 ? 1 : dice->Roll(1, 3);
  d.rate = dice->Roll(0, 1) == 0 ? 1 : dice->Roll(1, 3);
  d.input = dice->Roll(0, 4) == 0 ? dice->Roll(1, 90) : dice->Roll(1, 12);
  if (!same_padding) d.input += SpanOf(d) - 1;
  d.output = ((same_padding ? d.input : d.input - SpanOf(d) + 1) + d.stride - 1) / d.stride;
  return d;
}

Dilation RandomSizes(Dice* dice) {
  Dilation sizes;
  sizes.of = static_cast<Of>(dice->Roll(0, 2));
  sizes.same_padding = dice->Roll(0, 1) == 0;
  sizes.batch = dice->Roll(1, 5);
  sizes.channels = dice->Roll(0, 1) == 0 ? dice->Roll(1, 7) : dice->Roll(8, 50);
  sizes.rows = RandomDimension(sizes.same_padding, dice);
  sizes.columns = RandomDimension(sizes.same_padding, dice);
  return sizes;
}

struct Arguments {
  // A few integers only, so that sums are exact and ties occur.
  Arguments(const Dilation& sizes, Dice* dice, bool special) {
    const auto numbers = [&](int64_t count) {
      Floats made;
      for (int64_t i = 0; i < count; ++i) made.push_back(static_cast<float>(dice->Roll(-3, 3)));
      return made;
    };
    images = numbers(sizes.batch * sizes.rows.input * sizes.columns.input * sizes.channels);
    filter = numbers(sizes.rows.window * sizes.columns.window * sizes.channels);
    gradient = numbers(sizes.batch * sizes.rows.output * sizes.columns.output * sizes.channels);
    if (!special) return;
    const float values[] = {std::numeric_limits<float>::quiet_NaN(), -kInfinity, kInfinity, kLowest};
    const int64_t rare = dice->Roll(0, 1) * 3;
    for (float& pixel : images) {
      if (dice->Roll(0, rare) == 0) pixel = values[dice->Roll(0, 3)];
    }
    for (float& number : filter) {
      if (dice->Roll(0, 9) == 0) number = values[dice->Roll(0, 3)];
    }
  }

  Floats images, filter, gradient;
};

// Expected result, computed number by number.
Floats Expected(const Dilation& sizes, const Arguments& arguments) {
  const Dilation::Dimension &rows = sizes.rows, &columns = sizes.columns;
  Floats result(sizes.of == Of::kMaxima  ? arguments.gradient.size()
                : sizes.of == Of::kInput ? arguments.images.size()
                                         : arguments.filter.size());
  for (int64_t i = 0; i < static_cast<int64_t>(arguments.gradient.size()); ++i) {
    const int64_t channel = i % sizes.channels, window = i / sizes.channels;
    const int64_t x = window % columns.output * columns.stride - PadOf(sizes, columns);
    const int64_t y = window / columns.output % rows.output * rows.stride - PadOf(sizes, rows);
    const int64_t image = window / columns.output / rows.output;
    const auto at = [&](int64_t r, int64_t c) {
      return ((image * rows.input + r) * columns.input + c) * sizes.channels + channel;
    };
    float greatest = kLowest;
    int64_t to_row = std::max<int64_t>(y, 0), to_column = std::max<int64_t>(x, 0), place = channel;
    for (int64_t r = 0; r < rows.window; ++r) {
      for (int64_t c = 0; c < columns.window; ++c) {
        const int64_t row = y + r * rows.rate, column = x + c * columns.rate;
        if (row < 0 || row >= rows.input || column < 0 || column >= columns.input) continue;
        const int64_t here = (r * columns.window + c) * sizes.channels + channel;
        const float sum = arguments.images[at(row, column)] + arguments.filter[here];
        if (!(sum > greatest)) continue;
        greatest = sum;
        to_row = row;
        to_column = column;
        place = here;
      }
    }
    if (sizes.of == Of::kMaxima) result[i] = greatest;
    if (sizes.of == Of::kFilter) result[place] += arguments.gradient[i];
    if (sizes.of == Of::kInput && to_row < rows.input && to_column < columns.input) {
      result[at(to_row, to_column)] += arguments.gradient[i];
    }
  }
  return result;
}

class DilationTest : public testing::TestWithParam<int> {};

TEST_P(DilationTest, EqualsTheDefinition) {
  Dice dice(GetParam());
  const Dilation sizes = RandomSizes(&dice);
  SCOPED_TRACE(testing::PrintToString(sizes.Spec().parameters));
  const Arguments arguments(sizes, &dice, GetParam() % 2 == 1);
  std::vector<absl::string_view> operands = {BytesOf(arguments.images), BytesOf(arguments.filter)};
  if (sizes.of != Of::kMaxima) operands.push_back(BytesOf(arguments.gradient));
  const Floats expected = Expected(sizes, arguments);
  EXPECT_EQ(ElementsOf<float>(RunKernel(sizes.Spec(), operands, BytesOf(expected).size())), expected);
}

INSTANTIATE_TEST_SUITE_P(Random, DilationTest, testing::Range(0, 120));

TEST(Dilation, RefusesOtherParameters) {
  const KernelSpec spec = Dilation{Of::kInput, false, 1, 2, {5, 3, 3, 1, 1}, {5, 3, 3, 1, 1}}.Spec();
  EXPECT_TRUE(MakeKernel(spec).ok());
  for (size_t i = 0; i < spec.parameters.size(); ++i) {
    for (const int64_t wrong : {int64_t{-1}, int64_t{1} << 40}) {
      KernelSpec other = spec;
      other.parameters[i] = wrong;
      EXPECT_FALSE(MakeKernel(other).ok()) << i << ": " << wrong;
    }
  }
  KernelSpec shorter = spec;
  shorter.parameters.pop_back();
  EXPECT_FALSE(MakeKernel(shorter).ok());
}

// A call with attribute `text`, whose result has the shape of the operand `like`.
xla::XlaComputation Program(const std::string& text, size_t operand_count, size_t like,
                            xla::PrimitiveType type = xla::F32, int64_t channels = 6) {
  xla::XlaBuilder builder("program");
  const std::vector<std::vector<int64_t>> dims = {{2, 5, 7, 6}, {3, 2, channels}, {2, 3, 6, 6}};
  const auto body = builder.CreateSubBuilder("body");
  std::vector<xla::XlaOp> operands;
  for (size_t i = 0; i < operand_count; ++i) {
    const std::string name = "p" + std::to_string(i);
    operands.push_back(xla::Parameter(&builder, i, xla::ShapeUtil::MakeShape(type, dims[i]), name));
    xla::Parameter(body.get(), i, xla::ShapeUtil::MakeShape(type, dims[i]), name);
  }
  xla::Zeros(body.get(), xla::ShapeUtil::MakeShape(type, dims[like]));
  const xla::XlaComputation computation = body->Build().value();
  xla::FrontendAttributes attributes;
  (*attributes.mutable_map())[kOperationAttribute] = absl::StrCat(kDilation, " ", text);
  const xla::XlaOp call = [&] {
    const xla::XlaScopedFrontendAttributesAssignment scope(&builder, attributes);
    return xla::Call(&builder, computation, operands);
  }();
  xla::Tuple(&builder, {call});
  return builder.Build().value();
}

TEST(DilationPass, TakesWhatItKnows) {
  const std::string name = Dilation().Spec().name;
  EXPECT_EQ(CountKernels(Program("maxima 1 1 0 1 1 0", 2, 2), name), 1u);
  EXPECT_EQ(CountKernels(Program("input 1 1 0 1 1 0", 3, 0), name), 1u);
  EXPECT_EQ(CountKernels(Program("filter 1 1 0 1 1 0", 3, 1), name), 1u);
  EXPECT_EQ(CountKernels(Program("maxima 1 1 0 1 1 0", 3, 2), name), 0u) << "of other operands";
  EXPECT_EQ(CountKernels(Program("input 1 1 0 1 1 0", 3, 1), name), 0u) << "of another result";
  EXPECT_EQ(CountKernels(Program("filter 1 1 0 1 1 0", 3, 0), name), 0u) << "of another result";
  EXPECT_EQ(CountKernels(Program("other 1 1 0 1 1 0", 3, 0), name), 0u) << "of another name";
  EXPECT_EQ(CountKernels(Program("input 1 1 0 1 1", 3, 0), name), 0u) << "of fewer numbers";
  EXPECT_EQ(CountKernels(Program("input 1 1 0 1 1 x", 3, 0), name), 0u) << "of no numbers";
  EXPECT_EQ(CountKernels(Program("input 0 1 0 1 1 0", 3, 0), name), 0u) << "of no strides";
  EXPECT_EQ(CountKernels(Program("input 1 1 1 1 1 0", 3, 0), name), 0u) << "of another padding";
  EXPECT_EQ(CountKernels(Program("input 1 1 0 1 1 0", 3, 0, xla::F64), name), 0u) << "of another type";
  EXPECT_EQ(CountKernels(Program("input 1 1 0 1 1 0", 3, 0, xla::F32, 5), name), 0u) << "of other channels";
}

}  // namespace dilation_pass_test
}  // namespace hpu::emulator
