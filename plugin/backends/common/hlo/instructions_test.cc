#include "plugin/backends/common/hlo/instructions.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "plugin/backends/common/hlo/parsed_module.h"
#include "xla/xla_data.pb.h"

namespace hpu::hlo {
namespace instructions_test {

using xla::HloOpcode;

TEST(HloInstructionsTest, SourceIsBeforeReshapesAndConversionsThatChangeNothing) {
  const ParsedModule module(R"(ENTRY e {
    x = f32[2,3] parameter(0)
    same = f32[2,3] reshape(x)
    again = f32[2,3] convert(same)
    flat = f32[6] reshape(again)
    ROOT narrow = bf16[6] convert(flat)
  })");
  EXPECT_EQ(SourceOf(module.Named("again")), module.Named("x"));
  EXPECT_EQ(SourceOf(module.Named("flat")), module.Named("flat"));
  EXPECT_EQ(SourceOf(module.root()), module.root());
  EXPECT_FALSE(IsWidened(module.root()));
}

TEST(HloInstructionsTest, WidenedValuesAreConvertedFromBfloat16) {
  const ParsedModule module(R"(ENTRY e {
    x = bf16[6] parameter(0)
    ROOT wide = f32[6] convert(x)
  })");
  EXPECT_TRUE(IsWidened(module.root()));
  EXPECT_TRUE(IsFloatArray(module.root()->operand(0)->shape()));
  EXPECT_FALSE(IsFloat32Array(module.root()->operand(0)->shape()));
}

TEST(HloInstructionsTest, ScalarIsAFloatConstantOfRankZero) {
  const ParsedModule module(R"(ENTRY e {
    half = f32[] constant(0.5)
    same = f32[] reshape(half)
    two = bf16[] constant(2)
    three = s32[] constant(3)
    vector = f32[2] constant({1, 1})
    ROOT all = (f32[], bf16[], s32[], f32[2]) tuple(same, two, three, vector)
  })");
  EXPECT_EQ(ScalarOf(module.Named("same")), 0.5f);
  EXPECT_EQ(ScalarOf(module.Named("two")), 2.0f);
  EXPECT_FALSE(ScalarOf(module.Named("three")).has_value());
  EXPECT_FALSE(ScalarOf(module.Named("vector")).has_value());
  EXPECT_TRUE(IsConstantOf(module.Named("vector"), 1));
  EXPECT_TRUE(IsConstantOf(module.Named("three"), 3));
  EXPECT_FALSE(IsConstantOf(module.Named("three"), 2));
}

// A constant of this type and value.
ParsedModule Constant(const std::string& type, const std::string& value) {
  return ParsedModule(absl::StrCat("ENTRY e { ROOT c = ", type, "[] constant(", value, ") }"));
}

TEST(HloInstructionsTest, IdentityLeavesAllNumbersUnchanged) {
  struct Case {
    HloOpcode function;
    const char* type;
    const char* identity;
    const char* other;
  };
  for (const Case& c : {
           Case{HloOpcode::kAdd, "f32", "0", "-inf"},
           {HloOpcode::kAdd, "s64", "0", "1"},
           {HloOpcode::kMultiply, "bf16", "1", "0"},
           {HloOpcode::kMultiply, "u32", "1", "2"},
           {HloOpcode::kMaximum, "f32", "-inf", "-1e38"},
           {HloOpcode::kMaximum, "bf16", "-inf", "0"},
           {HloOpcode::kMaximum, "f64", "-inf", "0"},
           {HloOpcode::kMaximum, "s32", "-2147483648", "-2147483647"},
           {HloOpcode::kMaximum, "u8", "0", "255"},
           {HloOpcode::kMaximum, "pred", "false", "true"},
           {HloOpcode::kMinimum, "f16", "inf", "-inf"},
           {HloOpcode::kMinimum, "s64", "9223372036854775807", "0"},
           {HloOpcode::kMinimum, "pred", "true", "false"},
           {HloOpcode::kAnd, "pred", "true", "false"},
           {HloOpcode::kOr, "pred", "false", "true"},
           {HloOpcode::kXor, "pred", "false", "true"},
       }) {
    SCOPED_TRACE(absl::StrCat(xla::HloOpcodeString(c.function), " ", c.type));
    EXPECT_TRUE(IsIdentity(c.function, Constant(c.type, c.identity).root()));
    EXPECT_FALSE(IsIdentity(c.function, Constant(c.type, c.other).root()));
  }
  EXPECT_FALSE(IsIdentity(HloOpcode::kSubtract, Constant("f32", "0").root()));
  EXPECT_FALSE(IsIdentity(HloOpcode::kAdd, ParsedModule("ENTRY e { ROOT p = f32[] parameter(0) }").root()));
}

TEST(HloInstructionsTest, BinaryRootHasBothParametersInOrder) {
  const ParsedModule module(R"(
  plain { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] subtract(a, b) }
  swapped { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] subtract(b, a) }
  longer { a = f32[] parameter(0)  b = f32[] parameter(1)  s = f32[] add(a, b)  ROOT r = f32[] negate(s) }
  ENTRY e {
    x = f32[2] parameter(0)
    zero = f32[] constant(0)
    first = f32[] reduce(x, zero), dimensions={0}, to_apply=plain
    second = f32[] reduce(x, zero), dimensions={0}, to_apply=swapped
    third = f32[] reduce(x, zero), dimensions={0}, to_apply=longer
    ROOT all = (f32[], f32[], f32[]) tuple(first, second, third)
  })");
  EXPECT_TRUE(Computes(module.Named("first")->to_apply(), HloOpcode::kSubtract));
  EXPECT_FALSE(Computes(module.Named("first")->to_apply(), HloOpcode::kAdd));
  EXPECT_EQ(BinaryRoot(module.Named("second")->to_apply()), nullptr);
  EXPECT_EQ(BinaryRoot(module.Named("third")->to_apply()), nullptr);
}

}  // namespace instructions_test
}  // namespace hpu::hlo
