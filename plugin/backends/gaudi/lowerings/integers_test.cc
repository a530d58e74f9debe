// Integers of all widths at their limits, against XLA's evaluator.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "plugin/testing/gaudi_program.h"
#include "xla/literal_util.h"
#include "xla/primitive_util.h"
#include "xla/shape_util.h"

namespace hpu::gaudi {
namespace {

constexpr xla::PrimitiveType kIntegers[] = {xla::S8,  xla::U8,  xla::S16, xla::U16,
                                            xla::S32, xla::U32, xla::S64, xla::U64};

std::string NameOf(xla::PrimitiveType type) { return xla::primitive_util::LowercasePrimitiveTypeName(type); }

bool IsUnsignedType(xla::PrimitiveType type) { return xla::primitive_util::IsUnsignedIntegralType(type); }

xla::Literal List(xla::PrimitiveType type, const std::vector<int64_t>& values) {
  xla::Literal literal(xla::ShapeUtil::MakeShape(type, {static_cast<int64_t>(values.size())}));
  const int unused = 64 - xla::primitive_util::BitWidth(type);
  for (size_t i = 0; i < values.size(); ++i) {
    const uint64_t low = static_cast<uint64_t>(values[i]) << unused;
    const int64_t value =
        IsUnsignedType(type) ? static_cast<int64_t>(low >> unused) : static_cast<int64_t>(low) >> unused;
    EXPECT_TRUE(literal.SetIntegralAsS64({static_cast<int64_t>(i)}, value).ok());
  }
  return literal;
}

// Small numbers, and numbers at the limits of the type and of half its width.
std::vector<int64_t> Limits(xla::PrimitiveType type) {
  const int bits = xla::primitive_util::BitWidth(type);
  const int64_t smallest = std::numeric_limits<int64_t>::min() >> (64 - bits);
  const int64_t half = int64_t{1} << (bits / 2);
  std::vector<int64_t> values = {0,
                                 1,
                                 2,
                                 3,
                                 7,
                                 10,
                                 bits - 1,
                                 bits,
                                 -1,
                                 -2,
                                 -10,
                                 smallest,
                                 ~smallest,
                                 smallest + 1,
                                 ~smallest - 1,
                                 half,
                                 half - 1,
                                 -half,
                                 0x5555555555555555};
  if (bits == 64) {
    for (const int64_t value : {(int64_t{1} << 24) + 1, (int64_t{1} << 31) - 1, int64_t{1} << 31,
                                (int64_t{1} << 53) + 1, int64_t{0x123456789abcdef}, -int64_t{0x123456789abcdef}}) {
      values.push_back(value);
    }
  }
  return values;
}

// Two arrays with all pairs of a value of `left` and a value of `right`.
std::vector<xla::Literal> Pairs(xla::PrimitiveType type, const std::vector<int64_t>& left,
                                const std::vector<int64_t>& right) {
  std::vector<int64_t> a, b;
  for (const int64_t x : left) {
    for (const int64_t y : right) {
      a.push_back(x);
      b.push_back(y);
    }
  }
  std::vector<xla::Literal> literals;
  literals.push_back(List(type, a));
  literals.push_back(List(type, b));
  return literals;
}

std::string ShapeOf(const xla::Literal& literal) { return xla::ShapeUtil::HumanString(literal.shape()); }

class IntegersTest : public ProgramTest {
 protected:
  // Compares the instruction opcode(x, y) with the evaluator, for each opcode. The arguments are x and y.
  void ExpectSame(const std::vector<const char*>& opcodes, const std::vector<xla::Literal>& arguments) {
    const std::string shape = ShapeOf(arguments[0]);
    std::string program = absl::Substitute("HloModule m\nENTRY e { x = $0 parameter(0)\n y = $0 parameter(1)\n", shape);
    std::string shapes, names;
    for (size_t i = 0; i < opcodes.size(); ++i) {
      absl::StrAppend(&program, "r", i, " = ", shape, " ", opcodes[i], "(x, y)\n");
      absl::StrAppend(&shapes, i == 0 ? "" : ", ", shape);
      absl::StrAppend(&names, i == 0 ? "" : ", ", "r", i);
    }
    ExpectSameAsEvaluator(absl::StrCat(program, "ROOT r = (", shapes, ") tuple(", names, ") }"), arguments, 0);
  }
};

TEST_P(IntegersTest, ArithmeticWrapsAround) {
  for (const xla::PrimitiveType type : kIntegers) {
    ExpectSame({"add", "subtract", "multiply", "maximum", "minimum", "and", "or", "xor"},
               Pairs(type, Limits(type), Limits(type)));
  }
}

TEST_P(IntegersTest, DivisionOfLimits) {
  for (const xla::PrimitiveType type : kIntegers) {
    ExpectSame({"divide", "remainder"}, Pairs(type, Limits(type), Limits(type)));
  }
}

TEST_P(IntegersTest, DivisionByConstants) {
  for (const xla::PrimitiveType type : kIntegers) {
    const xla::Literal x = List(type, Limits(type));
    for (const int divisor : {0, 1, 8, 10, 127}) {
      ExpectSameAsEvaluator(
          absl::Substitute("HloModule m\nENTRY e { x = $0 parameter(0)\n c = $1[] constant($2)\n"
                           "y = $0 broadcast(c), dimensions={}\n d = $0 divide(x, y)\n m = $0 remainder(x, y)\n"
                           "ROOT r = ($0, $0) tuple(d, m) }",
                           ShapeOf(x), NameOf(type), divisor),
          ArgumentsOf(x), 0);
    }
  }
}

TEST_P(IntegersTest, ShiftsByAnyCount) {
  for (const xla::PrimitiveType type : kIntegers) {
    const int64_t bits = xla::primitive_util::BitWidth(type);
    ExpectSame({"shift-left", "shift-right-arithmetic", "shift-right-logical"},
               Pairs(type, Limits(type), {0, 1, 5, bits / 2 - 1, bits / 2, bits - 1, bits, -1, 127}));
  }
}

TEST_P(IntegersTest, ShiftsByConstants) {
  for (const xla::PrimitiveType type : kIntegers) {
    const xla::Literal x = List(type, Limits(type));
    const int bits = xla::primitive_util::BitWidth(type);
    for (const int count : {0, 1, bits / 2, bits - 1, bits}) {
      ExpectSameAsEvaluator(absl::Substitute("HloModule m\nENTRY e { x = $0 parameter(0)\n c = $1[] constant($2)\n"
                                             "y = $0 broadcast(c), dimensions={}\n a = $0 shift-left(x, y)\n"
                                             "b = $0 shift-right-arithmetic(x, y)\n c2 = $0 shift-right-logical(x, y)\n"
                                             "ROOT r = ($0, $0, $0) tuple(a, b, c2) }",
                                             ShapeOf(x), NameOf(type), count),
                            ArgumentsOf(x), 0);
    }
  }
}

TEST_P(IntegersTest, Comparisons) {
  for (const xla::PrimitiveType type : kIntegers) {
    const std::vector<xla::Literal> arguments = Pairs(type, Limits(type), Limits(type));
    const int64_t count = arguments[0].element_count();
    std::string program =
        absl::Substitute("HloModule m\nENTRY e { x = $0 parameter(0)\n y = $0 parameter(1)\n", ShapeOf(arguments[0]));
    std::string shapes;
    for (const char* direction : {"EQ", "NE", "LT", "LE", "GT", "GE"}) {
      absl::StrAppend(&program, direction, " = pred[", count, "] compare(x, y), direction=", direction, "\n");
      absl::StrAppend(&shapes, shapes.empty() ? "" : ", ", "pred[", count, "]");
    }
    absl::StrAppend(&program, "s = ", ShapeOf(arguments[0]), " select(GT, x, y)\n", "ROOT r = (", shapes, ", ",
                    ShapeOf(arguments[0]), ") tuple(EQ, NE, LT, LE, GT, GE, s) }");
    ExpectSameAsEvaluator(program, arguments, 0);
  }
}

TEST_P(IntegersTest, FunctionsOfOneOperand) {
  for (const xla::PrimitiveType type : kIntegers) {
    const xla::Literal x = List(type, Limits(type));
    std::string program = absl::Substitute("HloModule m\nENTRY e { x = $0 parameter(0)\n", ShapeOf(x));
    std::string shapes, names;
    for (const char* opcode : {"abs", "negate", "sign", "not", "popcnt"}) {
      const bool needs_sign = absl::string_view(opcode) == "abs" || absl::string_view(opcode) == "sign";
      if (IsUnsignedType(type) && needs_sign) continue;
      absl::StrAppend(&program, opcode, " = ", ShapeOf(x), " ", opcode, "(x)\n");
      absl::StrAppend(&shapes, shapes.empty() ? "" : ", ", ShapeOf(x));
      absl::StrAppend(&names, names.empty() ? "" : ", ", opcode);
    }
    ExpectSameAsEvaluator(absl::StrCat(program, "ROOT r = (", shapes, ") tuple(", names, ") }"), ArgumentsOf(x), 0);
  }
}

TEST_P(IntegersTest, LeadingZeros) {
  for (const xla::PrimitiveType type : kIntegers) {
    std::vector<int64_t> values, counts;
    const int bits = xla::primitive_util::BitWidth(type);
    for (int zeros = 0; zeros <= bits; ++zeros) {
      const uint64_t ones = zeros == bits ? 0 : ~uint64_t{0} >> (64 - bits + zeros);
      values.push_back(static_cast<int64_t>(ones));
      counts.push_back(zeros);
      if (zeros == bits) continue;
      values.push_back(static_cast<int64_t>(uint64_t{1} << (bits - 1 - zeros)));
      counts.push_back(zeros);
    }
    const xla::Literal x = List(type, values);
    const auto module = ParseProgram(absl::Substitute(
        "HloModule m\nENTRY e { x = $0 parameter(0)\n ROOT r = $0 count-leading-zeros(x) }", ShapeOf(x)));
    const auto got = Run(*module, ArgumentsOf(x));
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_EQ((*got)[0], List(type, counts));
  }
}

TEST_P(IntegersTest, Clamps) {
  for (const xla::PrimitiveType type : kIntegers) {
    const xla::Literal x = List(type, Limits(type));
    ExpectSameAsEvaluator(absl::Substitute("HloModule m\nENTRY e { x = $0 parameter(0)\n low = $1[] constant(3)\n"
                                           "high = $1[] constant(100)\n l = $0 broadcast(low), dimensions={}\n"
                                           "h = $0 broadcast(high), dimensions={}\n ROOT r = $0 clamp(l, x, h) }",
                                           ShapeOf(x), NameOf(type)),
                          ArgumentsOf(x), 0);
  }
}

TEST_P(IntegersTest, Powers) {
  for (const xla::PrimitiveType type : {xla::S32, xla::U32}) {
    ExpectSame({"power"}, Pairs(type, {0, 1, 2, 3, 10}, {0, 1, 2, 5, 9}));
  }
  for (const char* type : {"s64", "u64", "s16", "u8"}) {
    ExpectSameAsEvaluator(absl::Substitute("HloModule m\nENTRY e { x = $0[5] parameter(0)\n c = $0[] constant(2)\n"
                                           "y = $0[5] broadcast(c), dimensions={}\n ROOT r = $0[5] power(x, y) }",
                                           type),
                          ArgumentsOf(List(xla::primitive_util::StringToPrimitiveType(type).value(), {0, 1, 2, 3, 11})),
                          0);
  }
}

TEST_P(IntegersTest, PowersWrapAroundAndInvert) {
  const auto module = ParseProgram(
      "HloModule m\nENTRY e { x = s32[6] parameter(0)\n y = s32[6] parameter(1)\n ROOT r = s32[6] power(x, y) }");
  const auto got =
      Run(*module, ArgumentsOf(List(xla::S32, {3, -1, -1, 1, 2, 2}), List(xla::S32, {40, -3, -2, -1, -1, 64})));
  ASSERT_TRUE(got.ok()) << got.status();
  uint32_t power = 1;
  for (int i = 0; i < 40; ++i) power *= 3;
  EXPECT_EQ((*got)[0], List(xla::S32, {static_cast<int32_t>(power), -1, 1, 1, 0, 0}));
}

TEST_P(IntegersTest, ConversionsOfIntegers) {
  std::vector<const char*> targets = {"pred", "s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64", "f32", "bf16"};
  for (const xla::PrimitiveType type : kIntegers) {
    std::vector<int64_t> values = Limits(type);
    // Numbers that round to float32 and bfloat16 in each way.
    for (int shift = 0; shift < 40; ++shift) {
      for (const uint64_t odd : {0xffffffUL, 0x1000001UL, 0x1000003UL, 0x2000001UL, 0x2000003UL, 0xff7fffffUL}) {
        values.push_back(static_cast<int64_t>(odd << shift));
        values.push_back(static_cast<int64_t>(~(odd << shift)));
      }
    }
    const xla::Literal x = List(type, values);
    for (const char* target : targets) {
      ExpectSameAsEvaluator(
          absl::Substitute("HloModule m\nENTRY e { x = $0 parameter(0)\n ROOT r = $1[$2] convert(x) }", ShapeOf(x),
                           target, values.size()),
          ArgumentsOf(x), 0);
    }
  }
}

TEST_P(IntegersTest, ConversionsOfFloats) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::vector<float> values = {0,          -0.0f,  0.5f,     -0.5f,  1.5f,     2.5f,   -2.5f, 3.7f,  -3.7f, kInfinity,
                               -kInfinity, NAN,    127.9f,   128.5f, -128.9f,  -129,   255,   256,   1e10,  -1e10,
                               1e20f,      -1e20f, 65535.9f, 65536,  32767.9f, -32769, 3e38f, -3e38f};
  for (const int exponent : {24, 31, 32, 53, 63, 64}) {
    const float power = std::ldexp(1.0f, exponent);
    for (const float value : {power, std::nextafter(power, 0.0f), std::nextafter(power, kInfinity)}) {
      values.push_back(value);
      values.push_back(-value);
    }
  }
  const xla::Literal x = xla::LiteralUtil::CreateR1<float>(values);
  for (const char* target : {"pred", "s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64"}) {
    ExpectSameAsEvaluator(absl::Substitute("HloModule m\nENTRY e { x = $0 parameter(0)\n ROOT r = $1[$2] convert(x) }",
                                           ShapeOf(x), target, values.size()),
                          ArgumentsOf(x), 0);
  }
}

TEST_P(IntegersTest, MovementOfTypesWithoutKernels) {
  for (const char* type : {"u16", "u32", "s64", "u64", "s16", "s8"}) {
    ExpectSameAsEvaluator(
        absl::Substitute("HloModule m\nENTRY e { x = $0[2,3] parameter(0)\n i = $0[2,3] iota(), iota_dimension=1\n"
                         "s = $0[2,3] add(x, i)\n v = $0[2,3] reverse(s), dimensions={0,1}\n z = $0[] constant(7)\n"
                         "p = $0[4,5] pad(s, z), padding=1_1x0_2\n n = $0[5,3] pad(x, z), padding=1_1_1x0_0\n"
                         "ROOT r = ($0[2,3], $0[2,3], $0[4,5], $0[5,3]) tuple(s, v, p, n) }",
                         type),
        0);
  }
}

TEST_P(IntegersTest, IotaWrapsAround) {
  ExpectSameAsEvaluator(
      "HloModule m\nENTRY e { a = s8[300] iota(), iota_dimension=0\n b = u8[2,300] iota(), iota_dimension=1\n"
      "c = bf16[1000] iota(), iota_dimension=0\n ROOT r = (s8[300], u8[2,300], bf16[1000]) tuple(a, b, c) }",
      0);
}

TEST_P(IntegersTest, Products) {
  for (const xla::PrimitiveType type : kIntegers) {
    ExpectSameAsEvaluator(
        absl::Substitute("HloModule m\nENTRY e { x = $0[2,3,4] parameter(0)\n y = $0[2,4,5] parameter(1)\n"
                         "ROOT r = $0[2,3,5] dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={0}, "
                         "lhs_contracting_dims={2}, rhs_contracting_dims={1} }",
                         NameOf(type)),
        0);
    ExpectSameAsEvaluator(
        absl::Substitute("HloModule m\nENTRY e { x = $0[5] parameter(0)\n y = $0[5] parameter(1)\n"
                         "ROOT r = $0[] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0} }",
                         NameOf(type)),
        0);
  }
}

TEST_P(IntegersTest, Bitcasts) {
  ExpectSameAsEvaluator(
      "HloModule m\nENTRY e { x = s64[3] parameter(0)\n y = u32[3,2] bitcast-convert(x)\n"
      "z = u64[3] bitcast-convert(y)\n w = u8[3,2,4] bitcast-convert(y)\n f = f32[3,2] bitcast-convert(w)\n"
      "ROOT r = (u32[3,2], u64[3], u8[3,2,4], f32[3,2]) tuple(y, z, w, f) }",
      ArgumentsOf(List(xla::S64, {1, -2, 0x3f8000003fc00000})), 0);
}

TEST_P(IntegersTest, ChainsOf64BitsNeedNoJoins) {
  const std::string plan = PlanOf(
      "HloModule m\nENTRY e { x = u32[4] parameter(0)\n w = u64[4] convert(x)\n c = u64[] constant(3528531795)\n"
      "k = u64[4] broadcast(c), dimensions={}\n p = u64[4] multiply(w, k)\n s = u64[] constant(32)\n"
      "b = u64[4] broadcast(s), dimensions={}\n h = u64[4] shift-right-logical(p, b)\n"
      "ROOT r = u32[4] convert(h) }");
  EXPECT_FALSE(absl::StrContains(plan, "reinterpret_cast")) << plan;
  EXPECT_LE(std::count(plan.begin(), plan.end(), '\n'), 17) << plan;
}

HPU_GAUDI_SUITE(IntegersTest);

}  // namespace
}  // namespace hpu::gaudi
