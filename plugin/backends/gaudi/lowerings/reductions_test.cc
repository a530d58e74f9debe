// Reductions that lowering_test.cc does not test: other types and combiners, several arrays, argmax.
#include <limits>
#include <utility>

#include "absl/strings/substitute.h"
#include "plugin/testing/gaudi_program.h"
#include "xla/literal_util.h"

namespace hpu::gaudi {
namespace reductions_test {

// $0: type, $1: instruction of the combiner, $2: initial value.
constexpr char kReduction[] =
    "HloModule m\nf { a = $0[] parameter(0)\n b = $0[] parameter(1)\n ROOT r = $0[] $1(a, b) }\n"
    "ENTRY e { x = $0[7,4,5] parameter(0)\n i = $0[] constant($2)\n r = $0[4] reduce(x, i), dimensions={0,2}, "
    "to_apply=f\n q = $0[7,5] reduce(x, i), dimensions={1}, to_apply=f\n ROOT t = ($0[4], $0[7,5]) tuple(r, q) }";

// tf.argmax and tf.argmin. $0: type, $1: GE or LE, $2: initial value, $3: sizes, $4: reduced dimension, $5: sizes of
// the results.
constexpr char kArgReduction[] =
    "HloModule m\nf { v = $0[] parameter(0)\n i = s32[] parameter(1)\n w = $0[] parameter(2)\n j = s32[] parameter(3)\n"
    "c = pred[] compare(v, w), direction=$1\n m = $0[] select(c, v, w)\n e = pred[] compare(v, w), direction=EQ\n"
    "n = s32[] minimum(i, j)\n s = s32[] select(c, i, j)\n p = s32[] select(e, n, s)\n"
    "ROOT t = ($0[], s32[]) tuple(m, p) }\n"
    "ENTRY e { x = $0[$3] parameter(0)\n q = s32[$3] iota(), iota_dimension=$4\n l = $0[] constant($2)\n"
    "z = s32[] constant(0)\n r = ($0[$5], s32[$5]) reduce(x, q, l, z), dimensions={$4}, to_apply=f\n"
    "a = $0[$5] get-tuple-element(r), index=0\n b = s32[$5] get-tuple-element(r), index=1\n"
    "ROOT t = ($0[$5], s32[$5]) tuple(a, b) }";

class ReductionTest : public ProgramTest {};

TEST_P(ReductionTest, Integers) {
  for (const char* type : {"s32", "u32", "s64", "u64", "s8", "u8", "s16"}) {
    for (const char* combiner : {"add", "maximum", "minimum", "and", "or", "xor", "multiply"}) {
      ExpectSameAsEvaluator(absl::Substitute(kReduction, type, combiner, 3), 0);
    }
  }
}

TEST_P(ReductionTest, UnsignedExtremaCompareAllBits) {
  std::vector<xla::Literal> arguments;
  arguments.push_back(xla::LiteralUtil::CreateR1<uint32_t>({1, 0x80000000u, 0xffffffffu, 7}));
  for (const char* combiner : {"maximum", "minimum"}) {
    ExpectSameAsEvaluator(
        absl::Substitute(
            "HloModule m\nf { a = u32[] parameter(0)\n b = u32[] parameter(1)\n ROOT r = u32[] $0(a, b) }\n"
            "ENTRY e { x = u32[4] parameter(0)\n i = u32[] constant(2147483649)\n"
            "ROOT r = u32[] reduce(x, i), dimensions={0}, to_apply=f }",
            combiner),
        arguments, 0);
  }
}

TEST_P(ReductionTest, Booleans) {
  for (const char* combiner : {"and", "or", "xor"}) {
    ExpectSameAsEvaluator(absl::Substitute(kReduction, "pred", combiner, "true"), 0);
    ExpectSameAsEvaluator(absl::Substitute(kReduction, "pred", combiner, "false"), 0);
  }
}

TEST_P(ReductionTest, NanOfTheInitialValueAndOfElements) {
  Set("SYNAPSE_DOUBLE_LOSE_NAN", "1");
  std::vector<xla::Literal> arguments;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  arguments.push_back(xla::LiteralUtil::CreateR2<float>({{1, nan, 2}, {3, 4, 5}, {nan, nan, nan}}));
  for (const char* combiner : {"maximum", "minimum"}) {
    for (const char* initial : {"nan", "0", "10", "inf", "-inf"}) {
      ExpectSameAsEvaluator(
          absl::Substitute(
              "HloModule m\nf { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] $0(a, b) }\n"
              "ENTRY e { x = f32[3,3] parameter(0)\n i = f32[] constant($1)\n"
              "ROOT r = f32[3] reduce(x, i), dimensions={1}, to_apply=f }",
              combiner, initial),
          arguments, 0);
    }
  }
}

TEST_P(ReductionTest, ManyReducedDimensions) {
  // Reduced and kept dimensions alternate.
  ExpectSameAsEvaluator(
      "HloModule m\nf { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] add(a, b) }\n"
      "ENTRY e { v = f32[6,8,36] parameter(0)\n x = f32[2,3,2,4,3,3,4] reshape(v)\n z = f32[] constant(0)\n"
      "r = f32[3,4,3] reduce(x, z), dimensions={0,2,4,6}, to_apply=f\n"
      "q = f32[2,2,3,4] reduce(x, z), dimensions={1,3,5}, to_apply=f\n"
      "ROOT t = (f32[3,4,3], f32[2,2,3,4]) tuple(r, q) }");
}

TEST_P(ReductionTest, OtherCombiners) {
  // The logarithm of a sum of exponentials, which is associative.
  ExpectSameAsEvaluator(
      "HloModule m\nf { a = f32[] parameter(0)\n b = f32[] parameter(1)\n m = f32[] maximum(a, b)\n"
      "c = f32[] subtract(a, m)\n d = f32[] subtract(b, m)\n g = f32[] exponential(c)\n h = f32[] exponential(d)\n"
      "s = f32[] add(g, h)\n l = f32[] log(s)\n ROOT r = f32[] add(l, m) }\n"
      "ENTRY e { x = f32[3,13,5] parameter(0)\n i = f32[] parameter(1)\n"
      "ROOT r = f32[3,5] reduce(x, i), dimensions={1}, to_apply=f }");
  // Products of 2 by 2 matrices do not commute.
  ExpectSameAsEvaluator(
      "HloModule m\nf { a = f32[] parameter(0)\n b = f32[] parameter(1)\n c = f32[] parameter(2)\n"
      "d = f32[] parameter(3)\n i = f32[] multiply(a, c)\n j = f32[] multiply(a, d)\n k = f32[] add(j, b)\n"
      "ROOT r = (f32[], f32[]) tuple(i, k) }\n"
      "ENTRY e { x = f32[11] parameter(0)\n y = f32[11] parameter(1)\n p = f32[] constant(1)\n q = f32[] constant(0)\n"
      "t = (f32[], f32[]) reduce(x, y, p, q), dimensions={0}, to_apply=f\n a = f32[] get-tuple-element(t), index=0\n"
      "b = f32[] get-tuple-element(t), index=1\n ROOT r = (f32[], f32[]) tuple(a, b) }");
  // The computation returns a constant, or an operand.
  ExpectSameAsEvaluator(
      "HloModule m\ng { a = f32[] parameter(0)\n b = f32[] parameter(1)\n"
      "c = f32[] parameter(2)\n d = f32[] parameter(3)\n k = f32[] constant(2)\n"
      "ROOT r = (f32[], f32[]) tuple(k, d) }\n"
      "ENTRY e { x = f32[3,4] parameter(0)\n y = f32[3,4] parameter(1)\n z = f32[] constant(0)\n"
      "t = (f32[3], f32[3]) reduce(x, y, z, z), dimensions={1}, to_apply=g\n"
      "a = f32[3] get-tuple-element(t), index=0\n b = f32[3] get-tuple-element(t), index=1\n"
      "ROOT r = (f32[3], f32[3]) tuple(a, b) }",
      0);
}

// XLA turns reductions of concatenations into maps.
TEST_P(ReductionTest, Concatenations) {
  for (const char* combiner : {"add", "maximum"}) {
    ExpectSameAsEvaluator(
        absl::Substitute("HloModule m\nf { a = f32[] parameter(0)\n b = f32[] parameter(1)\n"
                         "ROOT r = f32[] $0(a, b) }\n"
                         "ENTRY e { x = f32[1] parameter(0)\n y = f32[1] parameter(1)\n i = f32[] constant($1)\n"
                         "z = f32[2] concatenate(x, y), dimensions={0}\n"
                         "ROOT r = f32[] reduce(z, i), dimensions={0}, to_apply=f }",
                         combiner, combiner[0] == 'a' ? "0" : "-inf"),
        0);
  }
}

TEST_P(ReductionTest, NoElements) {
  ExpectSameAsEvaluator(
      "HloModule m\nf { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] add(a, b) }\n"
      "ENTRY e { x = f32[3,0] parameter(0)\n i = f32[] parameter(1)\n"
      "ROOT r = f32[3] reduce(x, i), dimensions={1}, to_apply=f }",
      0);
}

TEST_P(ReductionTest, Argmax) {
  for (const auto& [direction, initial] : {std::pair("GE", "-inf"), std::pair("LE", "inf")}) {
    ExpectSameAsEvaluator(absl::Substitute(kArgReduction, "f32", direction, initial, "4,30", 1, "4"), 0);
    ExpectSameAsEvaluator(absl::Substitute(kArgReduction, "bf16", direction, initial, "3,30,4", 1, "3,4"), 0);
  }
  // Equal elements: the first position.
  ExpectSameAsEvaluator(absl::Substitute(kArgReduction, "s32", "GE", "-2147483648", "50,4", 0, "4"), 0);
  ExpectSameAsEvaluator(absl::Substitute(kArgReduction, "s32", "LE", "2147483647", "50,4", 0, "4"), 0);
  ExpectSameAsEvaluator(absl::Substitute(kArgReduction, "u32", "LE", "4294967295", "50,4", 0, "4"), 0);
  ExpectSameAsEvaluator(absl::Substitute(kArgReduction, "s8", "GE", "-128", "50,4", 0, "4"), 0);
  ExpectSameAsEvaluator(absl::Substitute(kArgReduction, "s64", "GE", "-9223372036854775808", "50,4", 0, "4"), 0);
}

TEST_P(ReductionTest, ArgmaxWithNanAndInfinities) {
  Set("SYNAPSE_DOUBLE_LOSE_NAN", "1");
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  std::vector<xla::Literal> arguments;
  arguments.push_back(
      xla::LiteralUtil::CreateR2<float>({{1, 5, nan, 2, 3, 2},
                                         {nan, 5, 1, 5, 3, nan},
                                         {-infinity, -infinity, -infinity, -infinity, -infinity, -infinity},
                                         {infinity, infinity, infinity, infinity, infinity, infinity},
                                         {nan, nan, nan, nan, nan, nan},
                                         {7, nan, -infinity, -infinity, -infinity, -infinity},
                                         {7, nan, infinity, infinity, infinity, infinity},
                                         {1, 2, 3, 4, nan, 0}}));
  for (const auto& [direction, initial] : {std::pair("GE", "-inf"), std::pair("LE", "inf")}) {
    ExpectSameAsEvaluator(absl::Substitute(kArgReduction, "f32", direction, initial, "8,6", 1, "8"), arguments, 0);
  }
}

HPU_GAUDI_SUITE(ReductionTest);

}  // namespace reductions_test
}  // namespace hpu::gaudi
