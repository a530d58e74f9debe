#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "plugin/testing/gaudi_program.h"

namespace hpu::gaudi {
namespace {

class ElementwiseTest : public ProgramTest {};

TEST_P(ElementwiseTest, FunctionsOfOneOperand) {
  for (const char* opcode : {"abs", "negate", "ceil", "floor", "round-nearest-even", "round-nearest-afz", "exponential",
                             "exponential-minus-one", "sine", "cosine", "tan", "tanh", "logistic", "sign", "cbrt"}) {
    ExpectSameAsEvaluator(absl::Substitute("HloModule m\nENTRY e { x = f32[3,5] parameter(0)\n"
                                           "ROOT r = f32[3,5] $0(x) }",
                                           opcode),
                          1e-5);
  }
}

TEST_P(ElementwiseTest, FunctionsOfTwoOperands) {
  for (const char* opcode : {"add", "subtract", "multiply", "divide", "maximum", "minimum", "atan2", "remainder"}) {
    ExpectSameAsEvaluator(absl::Substitute("HloModule m\nENTRY e { x = f32[3,5] parameter(0)\n"
                                           "y = f32[3,5] parameter(1)\n ROOT r = f32[3,5] $0(x, y) }",
                                           opcode),
                          1e-5);
  }
}

TEST_P(ElementwiseTest, Integers) {
  for (const char* type : {"s32", "s8", "s16", "u8"}) {
    for (const char* opcode : {"add", "subtract", "multiply", "maximum", "minimum", "and", "or", "xor"}) {
      ExpectSameAsEvaluator(absl::Substitute("HloModule m\nENTRY e { x = $1[3,5] parameter(0)\n"
                                             "y = $1[3,5] parameter(1)\n ROOT r = $1[3,5] $0(x, y) }",
                                             opcode, type),
                            0);
    }
  }
}

TEST_P(ElementwiseTest, DivisionOfIntegers) {
  for (const char* opcode : {"divide", "remainder"}) {
    ExpectSameAsEvaluator(absl::Substitute("HloModule m\nENTRY e { x = s32[7,50] parameter(0)\n"
                                           "y = s32[7,50] parameter(1)\n ROOT r = s32[7,50] $0(x, y) }",
                                           opcode),
                          0);
  }
}

TEST_P(ElementwiseTest, Shifts) {
  for (const char* type : {"s32", "u32", "s16"}) {
    for (const char* opcode : {"shift-left", "shift-right-arithmetic", "shift-right-logical"}) {
      ExpectSameAsEvaluator(absl::Substitute("HloModule m\nENTRY e { x = $1[7,50] parameter(0)\n"
                                             "y = $1[7,50] parameter(1)\n four = $1[] constant(4)\n"
                                             "fours = $1[7,50] broadcast(four), dimensions={}\n"
                                             "z = $1[7,50] multiply(y, fours)\n ROOT r = $1[7,50] $0(x, z) }",
                                             opcode, type),
                            0);
    }
  }
}

TEST_P(ElementwiseTest, Comparisons) {
  for (const char* type : {"f32", "s32", "u32", "s8", "u8"}) {
    for (const char* direction : {"EQ", "NE", "LT", "LE", "GT", "GE"}) {
      ExpectSameAsEvaluator(absl::Substitute("HloModule m\nENTRY e { x = $1[7,50] parameter(0)\n"
                                             "y = $1[7,50] parameter(1)\n"
                                             "ROOT r = pred[7,50] compare(x, y), direction=$0 }",
                                             direction, type),
                            0);
    }
  }
}

TEST_P(ElementwiseTest, NanWinsMaximaAndMinima) {
  for (const char* opcode : {"maximum", "minimum"}) {
    ExpectSameAsEvaluator(absl::Substitute("HloModule m\nENTRY e { x = f32[4] parameter(0)\n"
                                           "n = f32[4] constant({nan, 1, nan, 2})\n a = f32[4] $0(x, n)\n"
                                           "b = f32[4] $0(n, x)\n ROOT r = (f32[4], f32[4]) tuple(a, b) }",
                                           opcode),
                          0);
  }
}

TEST_P(ElementwiseTest, BroadcastsAreNotMaterialised) {
  constexpr char kProgram[] =
      "HloModule m\nENTRY e { x = f32[3,5] parameter(0)\n b = f32[5] parameter(1)\n"
      "w = f32[3,5] broadcast(b), dimensions={1}\n ROOT r = f32[3,5] add(x, w) }";
  ExpectSameAsEvaluator(kProgram);
  EXPECT_FALSE(absl::StrContains(PlanOf(kProgram), "= broadcast")) << PlanOf(kProgram);
}

TEST_P(ElementwiseTest, ManyDimensions) {
  ExpectSameAsEvaluator(
      "HloModule m\nENTRY e { x = f32[2,1,3,2,2] parameter(0)\n b = f32[2,2] parameter(1)\n"
      "w = f32[2,1,3,2,2] broadcast(b), dimensions={0,3}\n ROOT r = f32[2,1,3,2,2] add(x, w) }");
}

TEST_P(ElementwiseTest, Conversions) {
  const std::vector<std::string> types = {"f32", "bf16", "s32", "s8", "s16", "u8", "pred"};
  for (const std::string& from : types) {
    for (const std::string& to : types) {
      ExpectSameAsEvaluator(absl::Substitute("HloModule m\nENTRY e { x = $0[7,50] parameter(0)\n"
                                             "ROOT r = $1[7,50] convert(x) }",
                                             from, to),
                            0);
    }
  }
}

TEST_P(ElementwiseTest, Float64IsRefused) {
  ExpectRefused("HloModule m\nENTRY e { x = f64[3] parameter(0)\n ROOT r = f64[3] add(x, x) }",
                "does not compute with f64");
}

HPU_GAUDI_SUITE(ElementwiseTest);

}  // namespace
}  // namespace hpu::gaudi
