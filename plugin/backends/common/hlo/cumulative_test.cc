// Tests of cumulative reductions as tf2xla emits them.
#include "plugin/backends/common/hlo/cumulative.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_replace.h"
#include "plugin/backends/common/hlo/parsed_module.h"

namespace hpu::hlo {
namespace cumulative_test {

using Extent = Cumulative::Extent;
using Function = Cumulative::Function;

// A cumulative reduction of f32[4,32,3]. `size` is the result's size of dimension 1.
ParsedModule Summed(const std::string& window, int64_t size, const std::string& operation = "add",
                    const std::string& initial = "0", const std::string& slice = "[0:4], [0:32], [0:3]") {
  return ParsedModule(absl::StrReplaceAll(R"(
  function {
    a = f32[] parameter(0)
    b = f32[] parameter(1)
    ROOT r = f32[] OPERATION(a, b)
  }
  log_add_exp {
    x.6 = f32[] parameter(0)
    y.7 = f32[] parameter(1)
    maximum.8 = f32[] maximum(x.6, y.7)
    is-finite.10 = pred[] is-finite(maximum.8)
    not.11 = pred[] not(is-finite.10)
    abs.12 = f32[] abs(maximum.8)
    negate.13 = f32[] negate(abs.12)
    minimum.9 = f32[] minimum(x.6, y.7)
    subtract.14 = f32[] subtract(minimum.9, maximum.8)
    select.15 = f32[] select(not.11, negate.13, subtract.14)
    exponential.16 = f32[] exponential(select.15)
    log-plus-one.17 = f32[] log-plus-one(exponential.16)
    ROOT add.18 = f32[] add(maximum.8, log-plus-one.17)
  }
  ENTRY e {
    x = f32[4,32,3] parameter(0)
    initial = f32[] constant(INITIAL)
    sums = f32[4,SIZE,3] reduce-window(x, initial), window={WINDOW}, to_apply=FUNCTION
    convert = f32[4,SIZE,3] convert(sums)
    ROOT slice = f32[4,32,3] slice(convert), slice={SLICE}
  })",
                                          {{"OPERATION", operation == "log_add_exp" ? "add" : operation},
                                           {"FUNCTION", operation == "log_add_exp" ? operation : "function"},
                                           {"INITIAL", initial},
                                           {"SIZE", std::to_string(size)},
                                           {"WINDOW", window},
                                           {"SLICE", slice}}));
}

void ExpectCumulative(const ParsedModule& module, const std::string& name, Function function, Extent extent,
                      bool reverse) {
  const std::optional<Cumulative> found = DescribeCumulative(module.Named(name));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->function, function);
  EXPECT_EQ(found->extent, extent);
  EXPECT_EQ(found->reverse, reverse);
  EXPECT_EQ(found->dimension, 1);
  EXPECT_EQ(found->operand, module.Named("x"));
}

TEST(HloCumulativeTest, Inclusive) {
  ExpectCumulative(Summed("size=1x32x1 pad=0_0x31_0x0_0", 32), "sums", Function::kAdd, Extent::kInclusive, false);
  ExpectCumulative(Summed("size=1x32x1 pad=0_0x0_31x0_0", 32), "sums", Function::kAdd, Extent::kInclusive, true);
  ExpectCumulative(Summed("size=1x32x1 pad=0_0x31_0x0_0", 32, "multiply", "1"), "sums", Function::kMultiply,
                   Extent::kInclusive, false);
  ExpectCumulative(Summed("size=1x32x1 pad=0_0x31_0x0_0", 32, "log_add_exp", "-inf"), "sums", Function::kLogAddExp,
                   Extent::kInclusive, false);
}

TEST(HloCumulativeTest, ExclusiveIsASliceOfTheSumsWithTheIdentity) {
  const ParsedModule module = Summed("size=1x32x1 pad=0_0x32_0x0_0", 33);
  ExpectCumulative(module, "sums", Function::kAdd, Extent::kWithIdentity, false);
  ExpectCumulative(module, "slice", Function::kAdd, Extent::kExclusive, false);
  const ParsedModule reversed = Summed("size=1x32x1 pad=0_0x0_32x0_0", 33, "add", "0", "[0:4], [1:33], [0:3]");
  ExpectCumulative(reversed, "sums", Function::kAdd, Extent::kWithIdentity, true);
  ExpectCumulative(reversed, "slice", Function::kAdd, Extent::kExclusive, true);
}

TEST(HloCumulativeTest, OtherSlicesDoNotMatch) {
  const std::string window = "size=1x32x1 pad=0_0x32_0x0_0";
  EXPECT_FALSE(DescribeCumulative(Summed(window, 33, "add", "0", "[0:4], [1:33], [0:3]").root()).has_value());
  EXPECT_FALSE(DescribeCumulative(Summed(window, 33, "add", "0", "[1:4], [0:32], [0:3]").root()).has_value());
  EXPECT_FALSE(DescribeCumulative(Summed(window, 33, "add", "0", "[0:4], [0:31], [0:3]").root()).has_value());
  EXPECT_FALSE(DescribeCumulative(Summed("size=1x32x1 pad=0_0x31_0x0_0", 32).root()).has_value());
}

TEST(HloCumulativeTest, OtherWindowsDoNotMatch) {
  const auto matches = [](const std::string& window, int64_t size, const std::string& operation = "add",
                          const std::string& initial = "0") {
    const ParsedModule module = Summed(window, size, operation, initial);
    return DescribeCumulative(module.Named("sums")).has_value();
  };
  EXPECT_FALSE(matches("size=1x5x1 pad=0_0x2_2x0_0", 32));     // local response normalisation
  EXPECT_FALSE(matches("size=1x31x1 pad=0_0x30_0x0_0", 32));   // not the whole length
  EXPECT_FALSE(matches("size=1x32x1 pad=0_0x30_0x0_0", 31));   // too little padding
  EXPECT_FALSE(matches("size=1x32x1 pad=0_0x16_15x0_0", 32));  // padding on both sides
  EXPECT_FALSE(matches("size=1x32x1 stride=1x2x1 pad=0_0x31_0x0_0", 16));
  EXPECT_FALSE(matches("size=4x32x1 pad=3_0x31_0x0_0", 32));  // two dimensions
  EXPECT_FALSE(matches("size=1x32x1 pad=0_0x31_0x0_0", 32, "add", "1"));
  EXPECT_FALSE(matches("size=1x32x1 pad=0_0x31_0x0_0", 32, "multiply", "0"));
  EXPECT_FALSE(matches("size=1x32x1 pad=0_0x31_0x0_0", 32, "maximum", "-inf"));
  EXPECT_FALSE(matches("size=1x32x1 pad=0_0x31_0x0_0", 32, "log_add_exp", "0"));
}

}  // namespace cumulative_test
}  // namespace hpu::hlo
