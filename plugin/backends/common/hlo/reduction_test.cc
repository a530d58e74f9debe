// Tests of reductions as tf2xla emits them.
#include "plugin/backends/common/hlo/reduction.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "plugin/backends/common/hlo/parsed_module.h"

namespace hpu::hlo {
namespace reduction_test {

using xla::HloOpcode;

// tf.reduce_*(x, dimensions) with the scalar operation `operation` and the initial value `initial`.
ParsedModule Reduced(const std::string& type, const std::string& operation, const std::string& initial,
                     const std::string& dimensions = "1,0") {
  return ParsedModule(absl::StrReplaceAll(
      R"(
  Reduction {
    x = T[] parameter(0)
    y = T[] parameter(1)
    ROOT r = T[] OPERATION(x, y)
  }
  ENTRY e {
    x = T[4,32,3] parameter(0)
    convert = T[4,32,3] convert(x)
    initial = T[] constant(INITIAL)
    start = T[] convert(initial)
    ROOT reduce = T[3] reduce(convert, start), dimensions={DIMENSIONS}, to_apply=Reduction
  })",
      {{"T[", absl::StrCat(type, "[")}, {"OPERATION", operation}, {"INITIAL", initial}, {"DIMENSIONS", dimensions}}));
}

TEST(HloReductionTest, DescribesTheOperationAndItsInitialValue) {
  struct Case {
    const char *type, *operation, *initial;
    HloOpcode function;
    bool starts_at_identity;
  };
  for (const Case& c : {
           Case{"f32", "add", "0", HloOpcode::kAdd, true},
           {"f32", "add", "1", HloOpcode::kAdd, false},
           {"bf16", "maximum", "-inf", HloOpcode::kMaximum, true},
           {"f32", "maximum", "0", HloOpcode::kMaximum, false},
           {"s32", "minimum", "2147483647", HloOpcode::kMinimum, true},
           {"f32", "multiply", "1", HloOpcode::kMultiply, true},
           {"pred", "and", "true", HloOpcode::kAnd, true},
           {"pred", "or", "false", HloOpcode::kOr, true},
           {"pred", "or", "true", HloOpcode::kOr, false},
           {"f32", "subtract", "0", HloOpcode::kSubtract, false},
       }) {
    SCOPED_TRACE(absl::StrCat(c.type, " ", c.operation, " from ", c.initial));
    const ParsedModule module = Reduced(c.type, c.operation, c.initial);
    const std::optional<Reduction> found = DescribeReduction(module.root());
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->function, c.function);
    EXPECT_EQ(found->starts_at_identity, c.starts_at_identity);
    EXPECT_EQ(found->operand, module.Named("convert"));
    EXPECT_EQ(found->initial, module.Named("start"));
    EXPECT_EQ(found->dimensions, (std::vector<int64_t>{0, 1}));
  }
}

TEST(HloReductionTest, OtherComputationsAndInstructionsDoNotMatch) {
  const ParsedModule module(R"(
  SumOfSquares {
    a = f32[] parameter(0)
    b = f32[] parameter(1)
    square = f32[] multiply(b, b)
    ROOT r = f32[] add(a, square)
  }
  ENTRY e {
    x = f32[4] parameter(0)
    zero = f32[] constant(0)
    ROOT reduce = f32[] reduce(x, zero), dimensions={0}, to_apply=SumOfSquares
  })");
  EXPECT_FALSE(DescribeReduction(module.root()).has_value());
  EXPECT_FALSE(DescribeReduction(module.Named("x")).has_value());
}

// tf.argmax(x, 1), with replacements in the HLO text.
ParsedModule ArgMax(std::initializer_list<std::pair<const absl::string_view, absl::string_view>> replacements = {}) {
  return ParsedModule(absl::StrReplaceAll(R"(
  minmax_func {
    lhs_value = f32[] parameter(0)
    rhs_value = f32[] parameter(2)
    compare.11 = pred[] compare(lhs_value, rhs_value), direction=GE
    select.12 = f32[] select(compare.11, lhs_value, rhs_value)
    compare.14 = pred[] compare(lhs_value, rhs_value), direction=EQ
    lhs_index = s32[] parameter(1)
    rhs_index = s32[] parameter(3)
    minimum.15 = s32[] minimum(lhs_index, rhs_index)
    select.13 = s32[] select(compare.11, lhs_index, rhs_index)
    select.16 = s32[] select(compare.14, minimum.15, select.13)
    ROOT tuple.17 = (f32[], s32[]) tuple(select.12, select.16)
  }
  ENTRY e {
    x = f32[4,32] parameter(0)
    positions = s32[4,32] iota(), iota_dimension=1
    initial = f32[] constant(-inf)
    first = s32[] constant(0)
    ROOT reduce.18 = (f32[4], s32[4]) reduce(x, positions, initial, first), dimensions={1}, to_apply=minmax_func
  })",
                                          replacements));
}

TEST(HloArgReductionTest, ArgMaxFindsTheFirst) {
  const ParsedModule module = ArgMax();
  const std::optional<ArgReduction> found = DescribeArgReduction(module.root());
  ASSERT_TRUE(found.has_value());
  EXPECT_FALSE(found->minimum);
  EXPECT_EQ(found->ties, ArgReduction::Ties::kFirst);
  EXPECT_EQ(found->dimension, 1);
  EXPECT_EQ(found->operand, module.Named("x"));
  EXPECT_FALSE(DescribeReduction(module.root()).has_value());
}

TEST(HloArgReductionTest, ArgMin) {
  const ParsedModule module = ArgMax({{"direction=GE", "direction=LE"}, {"constant(-inf)", "constant(inf)"}});
  const std::optional<ArgReduction> found = DescribeArgReduction(module.root());
  ASSERT_TRUE(found.has_value());
  EXPECT_TRUE(found->minimum);
  EXPECT_EQ(found->ties, ArgReduction::Ties::kFirst);
}

TEST(HloArgReductionTest, OrderDecidesTiesWithoutTheirComparison) {
  const ParsedModule module = ArgMax({{"tuple(select.12, select.16)", "tuple(select.12, select.13)"}});
  const std::optional<ArgReduction> found = DescribeArgReduction(module.root());
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->ties, ArgReduction::Ties::kAnyEqual);
}

TEST(HloArgReductionTest, OtherReductionsDoNotMatch) {
  const auto matches = [](std::initializer_list<std::pair<const absl::string_view, absl::string_view>> replacements) {
    const ParsedModule module = ArgMax(replacements);
    return DescribeArgReduction(module.root()).has_value();
  };
  EXPECT_FALSE(matches({{"iota_dimension=1", "iota_dimension=0"}}));
  EXPECT_FALSE(matches({{"constant(-inf)", "constant(0)"}}));
  EXPECT_FALSE(matches({{"s32[] constant(0)", "s32[] constant(1)"}}));
  EXPECT_FALSE(matches({{"direction=GE", "direction=LE"}}));
  EXPECT_FALSE(matches({{"direction=EQ", "direction=NE"}}));
  EXPECT_FALSE(matches({{"minimum(lhs_index", "maximum(lhs_index"}}));
  EXPECT_FALSE(matches({{"select(compare.11, lhs_index, rhs_index)", "select(compare.11, rhs_index, lhs_index)"}}));
  EXPECT_FALSE(matches({{"iota(), iota_dimension=1", "parameter(1)"}}));
}

}  // namespace reduction_test
}  // namespace hpu::hlo
