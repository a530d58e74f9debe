#include <limits>

#include "absl/strings/match.h"
#include "absl/strings/substitute.h"
#include "plugin/testing/gaudi_program.h"
#include "xla/literal.h"

namespace hpu::gaudi {
namespace cumulative_test {

class CumulativeTest : public ProgramTest {
 protected:
  // Windows as tf2xla makes them for tf.cumsum and tf.math.cumprod along a dimension of x [2,7,3].
  static std::string Program(absl::string_view opcode, absl::string_view type, absl::string_view initial,
                             absl::string_view result, absl::string_view padding) {
    return absl::Substitute(
        "HloModule m\nf { a = $1[] parameter(0)\n b = $1[] parameter(1)\n ROOT r = $1[] $0(a, b) }\n"
        "ENTRY e { x = $1[2,7,3] parameter(0)\n i = $1[] constant($2)\n"
        "ROOT r = $1[$3] reduce-window(x, i), window={size=1x7x1 pad=0_0x$4x0_0}, to_apply=f }",
        opcode, type, initial, result, padding);
  }
  static std::string LogSumExp() {
    return "HloModule m\nf { a = f32[] parameter(0)\n b = f32[] parameter(1)\n m = f32[] maximum(a, b)\n"
           "finite = pred[] is-finite(m)\n infinite = pred[] not(finite)\n abs = f32[] abs(m)\n"
           "neg = f32[] negate(abs)\n l = f32[] minimum(a, b)\n d = f32[] subtract(l, m)\n"
           "s = f32[] select(infinite, neg, d)\n x = f32[] exponential(s)\n p = f32[] log-plus-one(x)\n"
           "ROOT r = f32[] add(m, p) }\n"
           "ENTRY e { x = f32[2,7,3] parameter(0)\n i = f32[] constant(-inf)\n"
           "ROOT r = f32[2,7,3] reduce-window(x, i), window={size=1x7x1 pad=0_0x6_0x0_0}, to_apply=f }";
  }
};

TEST_P(CumulativeTest, Sums) {
  const std::string program = Program("add", "f32", "0", "2,7,3", "6_0");
  ExpectSameAsEvaluator(program);
  EXPECT_TRUE(absl::StrContains(PlanOf(program), "= cumsum_fwd_f32(")) << PlanOf(program);
  ExpectSameAsEvaluator(Program("add", "f32", "0", "2,7,3", "0_6"));
  // With the sum of no elements as an additional element. Exclusive sums are a slice of these results.
  ExpectSameAsEvaluator(Program("add", "f32", "0", "2,8,3", "7_0"));
  ExpectSameAsEvaluator(Program("add", "f32", "0", "2,8,3", "0_7"));
}

TEST_P(CumulativeTest, Types) {
  for (const char* padding : {"6_0", "0_6"}) {
    for (const char* type : {"s32", "u32", "s8", "u8"}) {
      ExpectSameAsEvaluator(Program("add", type, "0", "2,7,3", padding), 0);
    }
    ExpectSameAsEvaluator(Program("add", "bf16", "0", "2,7,3", padding), 0.02);
  }
}

TEST_P(CumulativeTest, Products) {
  for (const char* padding : {"6_0", "0_6"}) {
    ExpectSameAsEvaluator(Program("multiply", "f32", "1", "2,7,3", padding));
    ExpectSameAsEvaluator(Program("multiply", "s32", "1", "2,7,3", padding), 0);
  }
}

TEST_P(CumulativeTest, LogarithmsOfSums) {
  std::vector<xla::Literal> arguments = RandomArguments(*ParseProgram(LogSumExp()));
  arguments[0].Set<float>({0, 0, 0}, -std::numeric_limits<float>::infinity());
  arguments[0].Set<float>({0, 3, 1}, std::numeric_limits<float>::infinity());
  arguments[0].Set<float>({1, 2, 2}, std::numeric_limits<float>::quiet_NaN());
  ExpectSameAsEvaluator(LogSumExp(), arguments);
}

HPU_GAUDI_SUITE(CumulativeTest);

}  // namespace cumulative_test
}  // namespace hpu::gaudi
