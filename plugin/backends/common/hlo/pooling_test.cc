// Tests of pooling as tf2xla emits it.
#include "plugin/backends/common/hlo/pooling.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "plugin/backends/common/hlo/parsed_module.h"

namespace hpu::hlo {
namespace pooling_test {

using xla::HloOpcode;
using Dims = std::vector<int64_t>;
using Replacements = std::initializer_list<std::pair<const absl::string_view, absl::string_view>>;

// A dimension without dilation.
WindowDimension Spatial(int64_t input, int64_t output, int64_t window, int64_t stride, int64_t low, int64_t high) {
  WindowDimension d;
  d.input = input;
  d.output = output;
  d.window = window;
  d.stride = stride;
  d.pad_low = low;
  d.pad_high = high;
  return d;
}

ParsedModule Module(absl::string_view entry, Replacements replacements = {}) {
  return ParsedModule(absl::StrCat(R"(
  max { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] maximum(a, b) }
  add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] add(a, b) }
  ge { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = pred[] compare(a, b), direction=GE }
  not_less {
    a = f32[] parameter(0)
    b = f32[] parameter(1)
    less = pred[] compare(a, b), direction=LT
    ROOT r = pred[] not(less)
  }
  gt { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = pred[] compare(a, b), direction=GT }
  ENTRY e {)",
                                   absl::StrReplaceAll(entry, replacements), "}"));
}

// tf.nn.max_pool2d(x, 3, 2, "SAME") of NHWC images.
constexpr char kMaxPool[] = R"(
    x = f32[2,7,8,3] parameter(0)
    initial = f32[] constant(-inf)
    ROOT pool = f32[2,4,4,3] reduce-window(x, initial), window={size=1x3x3x1 stride=1x2x2x1 pad=0_0x1_1x0_1x0_0},
      to_apply=max
)";

TEST(HloMaxPoolingTest, FeaturesLast) {
  const ParsedModule module = Module(kMaxPool);
  const std::optional<MaxPooling> found = DescribeMaxPooling(module.root());
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->image, module.Named("x"));
  EXPECT_EQ(found->pooling.permutation, (Dims{0, 1, 2, 3}));
  ASSERT_EQ(found->pooling.dimensions.size(), 2);
  EXPECT_EQ(found->pooling.dimensions[0], Spatial(7, 4, 3, 2, 1, 1));
  EXPECT_EQ(found->pooling.dimensions[1], Spatial(8, 4, 3, 2, 0, 1));
}

TEST(HloMaxPoolingTest, FeaturesFirst) {
  const ParsedModule module = Module(R"(
    x = f32[2,3,7,8] parameter(0)
    initial = f32[] constant(-inf)
    ROOT pool = f32[2,3,4,4] reduce-window(x, initial), window={size=1x1x3x3 stride=1x1x2x2 pad=0_0x0_0x1_1x0_1},
      to_apply=max
  )");
  const std::optional<MaxPooling> found = DescribeMaxPooling(module.root());
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->pooling.permutation, (Dims{0, 2, 3, 1}));
  ASSERT_EQ(found->pooling.dimensions.size(), 2);
  EXPECT_EQ(found->pooling.dimensions[0], Spatial(7, 4, 3, 2, 1, 1));
  EXPECT_EQ(found->pooling.dimensions[1], Spatial(8, 4, 3, 2, 0, 1));
}

TEST(HloMaxPoolingTest, OneAndThreeSpatialDimensions) {
  const ParsedModule one = Module(R"(
    x = f32[2,8,3] parameter(0)
    initial = f32[] constant(-inf)
    ROOT pool = f32[2,4,3] reduce-window(x, initial), window={size=1x2x1 stride=1x2x1}, to_apply=max
  )");
  ASSERT_TRUE(DescribeMaxPooling(one.root()).has_value());
  EXPECT_EQ(DescribeMaxPooling(one.root())->pooling.dimensions, (std::vector{Spatial(8, 4, 2, 2, 0, 0)}));
  // The last elements along the first and the third spatial dimension are in no window.
  const ParsedModule three = Module(R"(
    x = f32[2,5,6,9,3] parameter(0)
    initial = f32[] constant(-inf)
    ROOT pool = f32[2,2,3,4,3] reduce-window(x, initial), window={size=1x2x2x2x1 stride=1x2x2x2x1}, to_apply=max
  )");
  ASSERT_TRUE(DescribeMaxPooling(three.root()).has_value());
  EXPECT_EQ(DescribeMaxPooling(three.root())->pooling.dimensions,
            (std::vector{Spatial(5, 2, 2, 2, 0, -1), Spatial(6, 3, 2, 2, 0, 0), Spatial(9, 4, 2, 2, 0, -1)}));
}

TEST(HloMaxPoolingTest, OtherReductionsDoNotMatch) {
  const auto matches = [](Replacements replacements) {
    return DescribeMaxPooling(Module(kMaxPool, replacements).root()).has_value();
  };
  EXPECT_TRUE(matches({}));
  EXPECT_FALSE(matches({{"to_apply=max", "to_apply=add"}}));
  EXPECT_FALSE(matches({{"constant(-inf)", "constant(0)"}}));
  EXPECT_FALSE(matches({{"1x3x3x1 stride=1x2x2x1 pad=0_0x1_1x0_1x0_0", "2x3x3x1 stride=1x2x2x1 pad=1_0x1_1x0_1x0_0"}}));
  EXPECT_FALSE(matches({{"1x3x3x1 stride=1x2x2x1 pad=0_0x1_1x0_1x0_0", "1x3x3x3 stride=1x2x2x1 pad=0_0x1_1x0_1x1_1"}}));
  EXPECT_FALSE(matches({{"f32[2,4,4,3] reduce-window", "f32[2,6,7,3] reduce-window"},
                        {"pad=0_0x1_1x0_1x0_0", "pad=0_0x1_1x0_1x0_0 lhs_dilate=1x2x2x1"}}));
}

// The gradient of tf.nn.max_pool2d(x, 3, 2, "SAME"), with tf2xla's selection.
constexpr char kMaxPoolGradient[] = R"(
    x = f32[2,7,8,3] parameter(0)
    dy = f32[2,4,4,3] parameter(1)
    zero = f32[] constant(0)
    ROOT scatter = f32[2,7,8,3] select-and-scatter(x, dy, zero),
      window={size=1x3x3x1 stride=1x2x2x1 pad=0_0x1_1x0_1x0_0}, select=ge, scatter=add
)";

TEST(HloMaxPoolingGradientTest, DescribesTheForwardPooling) {
  for (const auto& [select, selection] :
       {std::pair("select=ge", MaxSelection::kGreaterEqual), std::pair("select=not_less", MaxSelection::kNotLess)}) {
    const ParsedModule module = Module(kMaxPoolGradient, {{"select=ge", select}});
    const std::optional<MaxPoolingGradient> found = DescribeMaxPoolingGradient(module.root());
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->selection, selection);
    EXPECT_EQ(found->image, module.Named("x"));
    EXPECT_EQ(found->gradient, module.Named("dy"));
    EXPECT_EQ(found->pooling.permutation, (Dims{0, 1, 2, 3}));
    EXPECT_EQ(found->pooling.dimensions, DescribeMaxPooling(Module(kMaxPool).root())->pooling.dimensions);
  }
}

TEST(HloMaxPoolingGradientTest, OtherFunctionsDoNotMatch) {
  const auto matches = [](Replacements replacements) {
    return DescribeMaxPoolingGradient(Module(kMaxPoolGradient, replacements).root()).has_value();
  };
  EXPECT_FALSE(matches({{"select=ge", "select=gt"}}));
  EXPECT_FALSE(matches({{"scatter=add", "scatter=max"}}));
  EXPECT_FALSE(matches({{"constant(0)", "constant(1)"}}));
  EXPECT_FALSE(matches({{"select=ge", "select=add"}}));
}

// tf.nn.avg_pool2d(x, 3, 2, "SAME").
constexpr char kAveragePool[] = R"(
    x = f32[2,7,8,3] parameter(0)
    zero = f32[] constant(0)
    pad.6 = f32[2,9,9,3] pad(x, zero), padding=0_0x1_1x0_1x0_0
    sum = f32[2,4,4,3] reduce-window(pad.6, zero), window={size=1x3x3x1 stride=1x2x2x1}, to_apply=add
    one = f32[] constant(1)
    ones = f32[7,8] broadcast(one), dimensions={}
    pad.15 = f32[9,9] pad(ones, zero), padding=1_1x0_1
    counts = f32[4,4] reduce-window(pad.15, zero), window={size=3x3 stride=2x2}, to_apply=add
    divisor = f32[2,4,4,3] broadcast(counts), dimensions={1,2}
    ROOT average = f32[2,4,4,3] divide(sum, divisor)
)";

TEST(HloAveragePoolingTest, DividesByCounts) {
  const ParsedModule module = Module(kAveragePool);
  const std::optional<AveragePooling> found = DescribeAveragePooling(module.root());
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->divisor, Divisor::kCounts);
  EXPECT_EQ(found->image, module.Named("x"));
  EXPECT_EQ(found->sum, module.Named("sum"));
  EXPECT_EQ(found->pooling.permutation, (Dims{0, 1, 2, 3}));
  EXPECT_EQ(found->pooling.dimensions, (std::vector{Spatial(7, 4, 3, 2, 1, 1), Spatial(8, 4, 3, 2, 0, 1)}));
}

TEST(HloAveragePoolingTest, SumsHaveNoDivisor) {
  const ParsedModule module = Module(kAveragePool);
  const std::optional<AveragePooling> found = DescribeAveragePooling(module.Named("sum"));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->divisor, Divisor::kOne);
  EXPECT_EQ(found->pooling.dimensions, DescribeAveragePooling(module.root())->pooling.dimensions);
}

// tf.nn.avg_pool2d(x, 2, 2, "VALID") of NCHW images; the last row and column are in no window.
constexpr char kAveragePoolValid[] = R"(
    x = f32[2,3,7,9] parameter(0)
    zero = f32[] constant(0)
    pad.6 = f32[2,3,7,9] pad(x, zero), padding=0_0x0_0x0_0x0_0
    sum = f32[2,3,3,4] reduce-window(pad.6, zero), window={size=1x1x2x2 stride=1x1x2x2}, to_apply=add
    four = f32[] constant(4)
    divisor = f32[2,3,3,4] broadcast(four), dimensions={}
    ROOT average = f32[2,3,3,4] divide(sum, divisor)
)";

TEST(HloAveragePoolingTest, DividesByTheWindow) {
  const ParsedModule module = Module(kAveragePoolValid);
  const std::optional<AveragePooling> found = DescribeAveragePooling(module.root());
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->divisor, Divisor::kWindow);
  EXPECT_EQ(found->image, module.Named("x"));
  EXPECT_EQ(found->pooling.permutation, (Dims{0, 2, 3, 1}));
  EXPECT_EQ(found->pooling.dimensions, (std::vector{Spatial(7, 3, 2, 2, 0, -1), Spatial(9, 4, 2, 2, 0, -1)}));
}

TEST(HloAveragePoolingTest, OtherDivisorsDoNotMatch) {
  const auto matches = [](absl::string_view text, Replacements replacements) {
    return DescribeAveragePooling(Module(text, replacements).root()).has_value();
  };
  EXPECT_FALSE(matches(kAveragePoolValid, {{"constant(4)", "constant(3)"}}));
  EXPECT_FALSE(matches(kAveragePoolValid, {{"divide(sum, divisor)", "divide(divisor, sum)"}}));
  // Divisors that count elements of other windows, count each element twice, or have exchanged dimensions.
  EXPECT_FALSE(matches(kAveragePool, {{"pad(ones, zero), padding=1_1x0_1", "pad(ones, zero), padding=0_2x0_1"}}));
  EXPECT_FALSE(matches(kAveragePool, {{"constant(1)", "constant(2)"}}));
  EXPECT_FALSE(matches(kAveragePool, {{"dimensions={1,2}", "dimensions={2,1}"}}));
}

// The gradient of tf.nn.avg_pool2d(x, 3, 2, "SAME").
constexpr char kAveragePoolGradient[] = R"(
    dy = f32[2,4,4,3] parameter(0)
    one = f32[] constant(1)
    ones = f32[7,8] broadcast(one), dimensions={}
    zero = f32[] constant(0)
    pad.35 = f32[9,9] pad(ones, zero), padding=1_1x0_1
    counts = f32[4,4] reduce-window(pad.35, zero), window={size=3x3 stride=2x2}, to_apply=add
    divisor = f32[2,4,4,3] broadcast(counts), dimensions={1,2}
    quotient = f32[2,4,4,3] divide(dy, divisor)
    pad.44 = f32[2,11,11,3] pad(quotient, zero), padding=0_0_0x2_2_1x2_2_1x0_0_0
    sum = f32[2,9,9,3] reduce-window(pad.44, zero), window={size=1x3x3x1}, to_apply=add
    ROOT pad.51 = f32[2,7,8,3] pad(sum, zero), padding=0_0x-1_-1x0_-1x0_0
)";

TEST(HloAveragePoolingGradientTest, DescribesTheForwardPooling) {
  const ParsedModule module = Module(kAveragePoolGradient);
  const std::optional<AveragePoolingGradient> found = DescribeAveragePoolingGradient(module.root());
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->divisor, Divisor::kCounts);
  EXPECT_EQ(found->gradient, module.Named("dy"));
  EXPECT_EQ(found->pooling.permutation, (Dims{0, 1, 2, 3}));
  EXPECT_EQ(found->pooling.dimensions, DescribeAveragePooling(Module(kAveragePool).root())->pooling.dimensions);
}

// tf.nn.avg_pool2d(x, 2, 3, "VALID"), whose windows do not touch.
constexpr char kAveragePoolGapGradient[] = R"(
    dy = f32[2,3,3,3] parameter(0)
    four = f32[] constant(4)
    divisor = f32[2,3,3,3] broadcast(four), dimensions={}
    quotient = f32[2,3,3,3] divide(dy, divisor)
    zero = f32[] constant(0)
    pad.28 = f32[2,9,10,3] pad(quotient, zero), padding=0_0_0x1_1_2x1_2_2x0_0_0
    sum = f32[2,8,9,3] reduce-window(pad.28, zero), window={size=1x2x2x1}, to_apply=add
    ROOT pad.35 = f32[2,8,9,3] pad(sum, zero), padding=0_0x0_0x0_0x0_0
)";

TEST(HloAveragePoolingGradientTest, WindowsWithGaps) {
  const ParsedModule module = Module(kAveragePoolGapGradient);
  const std::optional<AveragePoolingGradient> found = DescribeAveragePoolingGradient(module.root());
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->divisor, Divisor::kWindow);
  EXPECT_EQ(found->gradient, module.Named("dy"));
  EXPECT_EQ(found->pooling.dimensions, (std::vector{Spatial(8, 3, 2, 3, 0, 0), Spatial(9, 3, 2, 3, 0, -1)}));
}

TEST(HloAveragePoolingGradientTest, OtherDivisionsStayOutside) {
  const ParsedModule module = Module(kAveragePoolGapGradient, {{"constant(4)", "constant(5)"}});
  const std::optional<AveragePoolingGradient> found = DescribeAveragePoolingGradient(module.root());
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->divisor, Divisor::kOne);
  EXPECT_EQ(found->gradient, module.Named("quotient"));
}

TEST(HloAveragePoolingGradientTest, OtherSumsDoNotMatch) {
  EXPECT_FALSE(DescribeAveragePoolingGradient(Module(kAveragePool).Named("sum")).has_value());  // strides
  EXPECT_FALSE(DescribeAveragePoolingGradient(Module(kMaxPool).root()).has_value());
}

TEST(HloWindowReductionTest, OtherUsersKeepTheWholeResult) {
  const ParsedModule module = Module(kAveragePoolGradient, {{"ROOT pad.51", "pad.51"},
                                                            {"padding=0_0x-1_-1x0_-1x0_0",
                                                             "padding=0_0x-1_-1x0_-1x0_0\n ROOT both = "
                                                             "(f32[2,9,9,3], f32[2,7,8,3]) tuple(sum, pad.51)"}});
  EXPECT_FALSE(DescribeWindowReduction(module.Named("pad.51")).has_value());
  const std::optional<WindowReduction> found = DescribeWindowReduction(module.Named("sum"));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->operand, module.Named("quotient"));
  EXPECT_EQ(found->dimensions[1].base_dilation, 2);
  EXPECT_EQ(found->dimensions[1].pad_low, 2);
  EXPECT_EQ(found->dimensions[1].output, 9);
}

TEST(HloWindowReductionTest, PaddingByOtherValuesStays) {
  const ParsedModule module = Module(R"(
    x = f32[8] parameter(0)
    one = f32[] constant(1)
    zero = f32[] constant(0)
    padded = f32[10] pad(x, one), padding=1_1
    by_one = f32[8] reduce-window(padded, zero), window={size=3}, to_apply=add
    zeros = f32[10] pad(x, zero), padding=1_1
    ROOT from_one = f32[8] reduce-window(zeros, one), window={size=3}, to_apply=add
  )");
  EXPECT_EQ(DescribeWindowReduction(module.Named("by_one"))->operand, module.Named("padded"));
  const std::optional<WindowReduction> found = DescribeWindowReduction(module.root());
  ASSERT_TRUE(found.has_value());
  EXPECT_FALSE(found->starts_at_identity);
  EXPECT_EQ(found->function, HloOpcode::kAdd);
  EXPECT_EQ(found->operand, module.Named("zeros"));
  EXPECT_EQ(found->dimensions[0].pad_low, 0);
}

}  // namespace pooling_test
}  // namespace hpu::hlo
