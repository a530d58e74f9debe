// Tests of sorts as tf2xla emits them.
#include "plugin/backends/common/hlo/sort.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "plugin/backends/common/hlo/parsed_module.h"
#include "xla/hlo/transforms/expanders/comparison_expander.h"

namespace hpu::hlo {
namespace sort_test {

using Replacements = std::initializer_list<std::pair<const absl::string_view, absl::string_view>>;

// tf.math.top_k(x, 5), with replacements in the HLO text.
ParsedModule TopK(Replacements replacements = {}) {
  return ParsedModule(absl::StrReplaceAll(R"(
  compare-greater-than {
    p.1.lhs = s32[] parameter(2)
    p.1.rhs = s32[] parameter(3)
    yes = pred[] constant(true)
    constant.9 = pred[] broadcast(yes), dimensions={}
    p.0.lhs = f32[] parameter(0)
    p.0.rhs = f32[] parameter(1)
    compare.11 = pred[] compare(p.0.lhs, p.0.rhs), direction=GT, type=TOTALORDER
    ROOT select.12 = pred[] select(constant.9, compare.11, constant.9)
  }
  ENTRY e {
    x = f32[4,32] parameter(0)
    iota = s32[4,32] iota(), iota_dimension=1
    sort = (f32[4,32], s32[4,32]) sort(x, iota), dimensions={1}, is_stable=true, to_apply=compare-greater-than
    keys = f32[4,32] get-tuple-element(sort), index=0
    values = f32[4,5] slice(keys), slice={[0:4], [0:5]}
    positions = s32[4,32] get-tuple-element(sort), index=1
    indices = s32[4,5] slice(positions), slice={[0:4], [0:5]}
    ROOT result = tuple(values, indices)
  })",
                                          replacements));
}

TEST(HloSortTest, TopKReadsTheFirstElements) {
  const ParsedModule module = TopK();
  const std::optional<Sort> found = DescribeSort(module.Named("sort"));
  ASSERT_TRUE(found.has_value());
  EXPECT_TRUE(found->descending);
  EXPECT_TRUE(found->total_order);
  EXPECT_TRUE(found->stable);
  EXPECT_EQ(found->dimension, 1);
  EXPECT_EQ(found->size, 32);
  EXPECT_EQ(found->count, 5);
  EXPECT_EQ(found->payloads(), 0);
  ASSERT_EQ(found->operands.size(), 2);
  EXPECT_EQ(found->operands[0].value, module.Named("x"));
  EXPECT_FALSE(found->operands[0].is_position);
  EXPECT_TRUE(found->operands[1].is_position);
  ASSERT_EQ(found->operands[1].results.size(), 1);
  EXPECT_EQ(found->operands[1].results[0], module.Named("positions"));
}

TEST(HloSortTest, OtherUsersReadAllElements) {
  const auto count = [](Replacements replacements) {
    const ParsedModule module = TopK(replacements);
    return DescribeSort(module.Named("sort"))->count;
  };
  EXPECT_EQ(count({{"ROOT result = tuple(values, indices)", "ROOT result = tuple(values, positions)"}}), 32);
  EXPECT_EQ(count({{"indices = s32[4,5] slice(positions), slice={[0:4], [0:5]}",
                    "indices = s32[4,6] slice(positions), slice={[0:4], [0:6]}"}}),
            32);
  EXPECT_EQ(count({{"values = f32[4,5] slice(keys), slice={[0:4], [0:5]}",
                    "values = f32[4,5] slice(keys), slice={[0:4], [1:6]}"}}),
            32);
  EXPECT_EQ(count({{"values = f32[4,5] slice(keys), slice={[0:4], [0:5]}",
                    "values = f32[3,5] slice(keys), slice={[0:3], [0:5]}"}}),
            32);
}

TEST(HloSortTest, UnusedResultsAreEmpty) {
  const ParsedModule module = TopK({{"ROOT result = tuple(values, indices)", "ROOT copy = s32[4,5] copy(indices)"},
                                    {"keys = f32[4,32] get-tuple-element(sort), index=0", ""},
                                    {"values = f32[4,5] slice(keys), slice={[0:4], [0:5]}", ""}});
  const std::optional<Sort> found = DescribeSort(module.Named("sort"));
  ASSERT_TRUE(found.has_value());
  EXPECT_TRUE(found->operands[0].results.empty());
  EXPECT_EQ(found->count, 5);
}

TEST(HloSortTest, OtherOperandsArePayloads) {
  const ParsedModule module = TopK({{"iota(), iota_dimension=1", "parameter(1)"}});
  const std::optional<Sort> found = DescribeSort(module.Named("sort"));
  ASSERT_TRUE(found.has_value());
  EXPECT_FALSE(found->operands[1].is_position);
  EXPECT_EQ(found->payloads(), 1);
  const ParsedModule along_rows = TopK({{"iota_dimension=1", "iota_dimension=0"}});
  EXPECT_EQ(DescribeSort(along_rows.Named("sort"))->payloads(), 1);
}

TEST(HloSortTest, UsersOfTheTupleDoNotMatch) {
  const ParsedModule module = TopK({{"ROOT result = tuple(values, indices)", "ROOT result = tuple(sort)"}});
  EXPECT_FALSE(DescribeSort(module.Named("sort")).has_value());
  const ParsedModule at_the_end = TopK({{"    sort = (", "    ROOT sort = ("}, {"ROOT result", "result"}});
  EXPECT_FALSE(DescribeSort(at_the_end.Named("sort")).has_value());
}

// The order of a comparator of one operand.
std::optional<SortOrder> OrderOf(const std::string& type, const std::string& comparison, bool expand = false) {
  const ParsedModule module(absl::StrReplaceAll(R"(
  comparator {
    a = T[] parameter(0)
    b = T[] parameter(1)
    zero = T[] constant(0)
    ROOT r = pred[] COMPARISON
  }
  ENTRY e {
    x = T[16] parameter(0)
    sort = T[16] sort(x), dimensions={0}, to_apply=comparator
    ROOT copy = T[16] copy(sort)
  })",
                                                {{"T[", absl::StrCat(type, "[")}, {"COMPARISON", comparison}}));
  if (expand) {
    EXPECT_TRUE(xla::ComparisonExpander().Run(module.module()).value()) << type;
  }
  const std::optional<SortOrder> order = SortOrderOf(module.Named("sort")->to_apply());
  EXPECT_EQ(DescribeSort(module.Named("sort")).has_value(), order.has_value());
  return order;
}

TEST(HloSortOrderTest, ComparesKeys) {
  for (const char* type : {"s32", "u8", "f32", "bf16"}) {
    SCOPED_TRACE(type);
    const std::string total = type[0] == 'f' || type[0] == 'b' ? ", type=TOTALORDER" : "";
    const auto ascending = OrderOf(type, absl::StrCat("compare(a, b), direction=LT", total));
    ASSERT_TRUE(ascending.has_value());
    EXPECT_FALSE(ascending->descending);
    EXPECT_TRUE(ascending->total);
    EXPECT_FALSE(ascending->ties_by_second);
    const auto descending = OrderOf(type, absl::StrCat("compare(a, b), direction=GT", total));
    ASSERT_TRUE(descending.has_value());
    EXPECT_TRUE(descending->descending);
  }
}

TEST(HloSortOrderTest, PartialOrderOfFloatsIsNotTotal) {
  const auto order = OrderOf("f32", "compare(a, b), direction=LT");
  ASSERT_TRUE(order.has_value());
  EXPECT_FALSE(order->total);
}

TEST(HloSortOrderTest, OtherComparatorsDoNotMatch) {
  for (const char* comparison :
       {"compare(b, a), direction=LT", "compare(a, b), direction=LE", "compare(a, b), direction=EQ",
        "compare(a, zero), direction=LT", "compare(a, a), direction=LT"}) {
    EXPECT_FALSE(OrderOf("s32", comparison).has_value()) << comparison;
  }
}

TEST(HloSortOrderTest, OtherIntegersAreNotTheTotalOrder) {
  const auto matches = [](Replacements replacements) {
    const ParsedModule module(absl::StrReplaceAll(R"(
    comparator {
      a = f32[] parameter(0)
      b = f32[] parameter(1)
      zero = s32[] constant(0)
      greatest = u32[] constant(2147483647)
      a.signed = s32[] bitcast-convert(a)
      a.unsigned = u32[] bitcast-convert(a)
      a.subtract = u32[] subtract(greatest, a.unsigned)
      a.flipped = s32[] bitcast-convert(a.subtract)
      a.negative = pred[] compare(a.signed, zero), direction=LT
      a.key = s32[] select(a.negative, a.flipped, a.signed)
      b.signed = s32[] bitcast-convert(b)
      b.unsigned = u32[] bitcast-convert(b)
      b.subtract = u32[] subtract(greatest, b.unsigned)
      b.flipped = s32[] bitcast-convert(b.subtract)
      b.negative = pred[] compare(b.signed, zero), direction=LT
      b.key = s32[] select(b.negative, b.flipped, b.signed)
      ROOT r = pred[] compare(a.key, b.key), direction=LT
    }
    ENTRY e {
      x = f32[16] parameter(0)
      sort = f32[16] sort(x), dimensions={0}, to_apply=comparator
      ROOT copy = f32[16] copy(sort)
    })",
                                                  replacements));
    return SortOrderOf(module.Named("sort")->to_apply()).has_value();
  };
  EXPECT_TRUE(matches({}));
  EXPECT_FALSE(matches({{"constant(2147483647)", "constant(2147483646)"}}));
  EXPECT_FALSE(matches({{"zero = s32[] constant(0)", "zero = s32[] constant(1)"}}));
  EXPECT_FALSE(matches({{"u32[] bitcast-convert(b)", "u32[] bitcast-convert(a)"}}));
  EXPECT_FALSE(matches({{"compare(a.signed, zero), direction=LT", "compare(a.signed, zero), direction=GT"}}));
  EXPECT_FALSE(matches({{"compare(a.key, b.key)", "compare(a.key, b.signed)"}}));
  EXPECT_FALSE(matches({{"compare(a.key, b.key)", "compare(b.key, a.key)"}}));
}

// XLA's pass compares integers instead of floats in total order.
TEST(HloSortOrderTest, ExpandedComparisonsAreTotal) {
  for (const char* type : {"f32", "f64", "f16"}) {
    for (const char* direction : {"LT", "GT"}) {
      const auto order =
          OrderOf(type, absl::StrCat("compare(a, b), direction=", direction, ", type=TOTALORDER"), /*expand=*/true);
      ASSERT_TRUE(order.has_value()) << type;
      EXPECT_TRUE(order->total);
      EXPECT_EQ(order->descending, direction == std::string("GT"));
    }
  }
}

// tf.unique sorts (values, positions) by value and then by position.
ParsedModule Unique(Replacements replacements = {}) {
  return ParsedModule(absl::StrReplaceAll(R"(
  UniqueV2Lt {
    yes = pred[] constant(true)
    broadcast.14 = pred[] broadcast(yes), dimensions={}
    p.0.lhs = s32[] parameter(0)
    p.0.rhs = s32[] parameter(1)
    compare.17 = pred[] compare(p.0.lhs, p.0.rhs), direction=EQ
    and.18 = pred[] and(broadcast.14, compare.17)
    p.1.lhs = s32[] parameter(2)
    p.1.rhs = s32[] parameter(3)
    compare.19 = pred[] compare(p.1.lhs, p.1.rhs), direction=LT
    compare.15 = pred[] compare(p.0.lhs, p.0.rhs), direction=LT
    select.16 = pred[] select(broadcast.14, compare.15, broadcast.14)
    ROOT select.20 = pred[] select(and.18, compare.19, select.16)
  }
  ENTRY e {
    x = s32[16] parameter(0)
    iota = s32[16] iota(), iota_dimension=0
    sort = (s32[16], s32[16]) sort(x, iota), dimensions={0}, to_apply=UniqueV2Lt
    ROOT positions = s32[16] get-tuple-element(sort), index=1
  })",
                                          replacements));
}

TEST(HloSortTest, TiesByPositionAreStable) {
  const ParsedModule module = Unique();
  EXPECT_TRUE(SortOrderOf(module.Named("sort")->to_apply())->ties_by_second);
  const std::optional<Sort> found = DescribeSort(module.Named("sort"));
  ASSERT_TRUE(found.has_value());
  EXPECT_FALSE(found->descending);
  EXPECT_TRUE(found->stable);
}

TEST(HloSortTest, TiesByOtherOperandsDoNotMatch) {
  const ParsedModule by_payload = Unique({{"iota(), iota_dimension=0", "parameter(1)"}});
  EXPECT_FALSE(DescribeSort(by_payload.Named("sort")).has_value());
  const ParsedModule last_first =
      Unique({{"compare(p.1.lhs, p.1.rhs), direction=LT", "compare(p.1.lhs, p.1.rhs), direction=GT"}});
  EXPECT_FALSE(DescribeSort(last_first.Named("sort")).has_value());
}

TEST(HloSortKeysTest, NegationsAndOneTransposeAreRemoved) {
  const ParsedModule module(R"(
  comparator {
    a = f32[] parameter(0)
    b = f32[] parameter(1)
    ROOT r = pred[] compare(a, b), direction=GT, type=TOTALORDER
  }
  ENTRY e {
    x = f32[32,4] parameter(0)
    transpose = f32[4,32] transpose(x), dimensions={1,0}
    negate = f32[4,32] negate(transpose)
    same = f32[4,32] reshape(negate)
    sort = f32[4,32] sort(same), dimensions={1}, to_apply=comparator
    ROOT copy = f32[4,32] copy(sort)
  })");
  const SortKeys keys = SortKeysOf(module.Named("sort"), /*may_transpose=*/true);
  EXPECT_EQ(keys.operand, module.Named("x"));
  EXPECT_TRUE(keys.negated);
  EXPECT_EQ(keys.order, (std::vector<int64_t>{1, 0}));
  EXPECT_EQ(keys.dimension, 0);
  const SortKeys in_place = SortKeysOf(module.Named("sort"), /*may_transpose=*/false);
  EXPECT_EQ(in_place.operand, module.Named("transpose"));
  EXPECT_TRUE(in_place.negated);
  EXPECT_EQ(in_place.dimension, 1);
}

// -x of the least integer is the least integer.
TEST(HloSortKeysTest, NegationOfIntegersStays) {
  const ParsedModule module(R"(
  comparator {
    a = s32[] parameter(0)
    b = s32[] parameter(1)
    ROOT r = pred[] compare(a, b), direction=GT
  }
  ENTRY e {
    x = s32[32] parameter(0)
    negate = s32[32] negate(x)
    sort = s32[32] sort(negate), dimensions={0}, to_apply=comparator
    ROOT copy = s32[32] copy(sort)
  })");
  EXPECT_EQ(SortKeysOf(module.Named("sort"), true).operand, module.Named("negate"));
}

}  // namespace sort_test
}  // namespace hpu::hlo
