// Arrays with more dimensions than a release supports: 5 in 1.5, 8 in 1.18.
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "absl/strings/substitute.h"
#include "plugin/testing/gaudi_program.h"

namespace hpu::gaudi {
namespace movement_test {

class ManyDimensionsTest : public ProgramTest {};

TEST_P(ManyDimensionsTest, ArgumentsResultsAndConstants) {
  ExpectSameAsEvaluator(
      "HloModule m\nENTRY e { x = f32[2,1,3,2,2,3,1,2,2,2] parameter(0)\n"
      "y = f32[2,1,3,2,2,3,1,2,2,2] parameter(1)\n s = f32[2,1,3,2,2,3,1,2,2,2] add(x, y)\n"
      "c = f32[1,1,1,1,1,1,1,1,1,2] constant({{{{{{{{{{3,4}}}}}}}}}})\n"
      "ROOT r = (f32[2,1,3,2,2,3,1,2,2,2], f32[2,1,3,2,2,3,1,2,2,2], f32[1,1,1,1,1,1,1,1,1,2]) tuple(s, x, c) }",
      0);
}

TEST_P(ManyDimensionsTest, Transposes) {
  for (const char* permutation : {"0,2,1,4,3,5", "5,4,3,2,1,0", "1,2,3,4,5,0", "3,4,5,0,1,2", "2,0,4,1,5,3"}) {
    std::string shape;
    for (const char* d = permutation; *d != '\0'; ++d) shape += *d == ',' ? ',' : "232452"[*d - '0'];
    for (const char* type : {"f32", "s64"}) {
      ExpectSameAsEvaluator(absl::Substitute("HloModule m\nENTRY e { x = $0[2,3,2,4,5,2] parameter(0)\n"
                                             "ROOT t = $0[$1] transpose(x), dimensions={$2} }",
                                             type, shape, permutation),
                            0);
    }
  }
  // Dimensions of size 1 between dimensions that look like neighbours.
  ExpectSameAsEvaluator(
      "HloModule m\nENTRY e { x = f32[2,1,3,4,1,5] parameter(0)\n"
      "t = f32[2,4,3,1,1,5] transpose(x), dimensions={0,3,2,1,4,5}\n"
      "u = f32[5,3,1,2,1,4] transpose(t), dimensions={5,2,3,0,4,1}\n"
      "ROOT r = (f32[2,4,3,1,1,5], f32[5,3,1,2,1,4]) tuple(t, u) }",
      0);
  ExpectSameAsEvaluator(
      "HloModule m\nENTRY e { x = f32[2,3,2,2,2,3,2,2,2,2] parameter(0)\n"
      "ROOT t = f32[2,2,3,2,2,2,2,3,2,2] transpose(x), dimensions={0,2,1,3,4,6,7,5,9,8} }",
      0);
}

TEST_P(ManyDimensionsTest, SlicesConcatenationsAndPads) {
  ExpectSameAsEvaluator(
      "HloModule m\nENTRY e { x = f32[4,3,2,4,3,2] parameter(0)\n"
      "s = f32[2,3,2,2,2,1] slice(x), slice={[1:4:2], [0:3], [0:2], [1:3], [1:3], [1:2]}\n z = f32[] constant(7)\n"
      "p = f32[2,5,2,2,4,1] pad(s, z), padding=0_0x1_1x0_0x0_0x2_0x0_0\n"
      "q = f32[2,5,2,2,2,1] pad(s, z), padding=0_0x0_0_1x0_0x0_0x0_0x0_0\n v = f32[2,3,2,2,2,1] reverse(s), "
      "dimensions={0,3,4}\n c = f32[2,3,2,4,2,1] concatenate(s, v), dimensions={3}\n"
      "ROOT r = (f32[2,3,2,2,2,1], f32[2,5,2,2,4,1], f32[2,5,2,2,2,1], f32[2,3,2,2,2,1], f32[2,3,2,4,2,1]) "
      "tuple(s, p, q, v, c) }",
      0);
}

// Interior, cropping and mixed pads in all of six dimensions.
TEST_P(ManyDimensionsTest, InteriorPads) {
  for (const char* type : {"f32", "s64", "u16"}) {
    for (const char* pads :
         {"4,3,5,2,5,3;1_0_1x0_0_1x1_1_1x0_1x2_0_1x0_0_1", "2,3,2,2,4,2;0_-1_1x0_0_1x-1_0_1x0_1x1_0_1x0_0"}) {
      const std::vector<std::string> parts = absl::StrSplit(pads, ';');
      ExpectSameAsEvaluator(
          absl::Substitute("HloModule m\nENTRY e { s = $0[2,2,2,1,2,2] parameter(0)\n z = $0[] constant(3)\n"
                           "ROOT p = $0[$1] pad(s, z), padding=$2 }",
                           type, parts[0], parts[1]),
          0);
    }
  }
}

TEST_P(ManyDimensionsTest, Broadcasts) {
  ExpectSameAsEvaluator(
      "HloModule m\nENTRY e { x = f32[3,4,2] parameter(0)\n b = f32[2,3,5,4,2,2,3] broadcast(x), dimensions={1,3,5}\n"
      "y = f32[2,3,5,4,2,2,3] parameter(1)\n m = f32[2,3,5,4,2,2,3] multiply(b, y)\n"
      "ROOT r = (f32[2,3,5,4,2,2,3], f32[2,3,5,4,2,2,3]) tuple(b, m) }",
      0);
}

TEST_P(ManyDimensionsTest, ConversionsAndSelects) {
  ExpectSameAsEvaluator(
      "HloModule m\nENTRY e { x = f32[2,3,2,4,3,2] parameter(0)\n i = s32[2,3,2,4,3,2] convert(x)\n"
      "b = s32[2,3,2,4,3,2] bitcast-convert(x)\n z = s32[] constant(0)\n"
      "w = s32[2,3,2,4,3,2] broadcast(z), dimensions={}\n c = pred[2,3,2,4,3,2] compare(i, w), direction=GT\n"
      "ROOT s = s32[2,3,2,4,3,2] select(c, i, b) }",
      0);
}

TEST_P(ManyDimensionsTest, ResultsInTheMemoryOfArguments) {
  ExpectSameAsEvaluator(
      "HloModule m, input_output_alias={ {0}: (0, {}, may-alias), {1}: (1, {}, may-alias) }\n"
      "ENTRY e { a = f32[2,1,3,2,2,2] parameter(0)\n b = f32[2,1,3,2,2,2] parameter(1)\n"
      "s = f32[2,1,3,2,2,2] add(a, b)\n ROOT r = (f32[2,1,3,2,2,2], f32[2,1,3,2,2,2]) tuple(s, b) }",
      0);
}

class BitcastTest : public ProgramTest {};

TEST_P(BitcastTest, TypesOfOtherSizes) {
  ExpectSameAsEvaluator(
      "HloModule m\nENTRY e { x = f32[3,2] parameter(0)\n b = s8[3,2,4] bitcast-convert(x)\n"
      "h = s16[3,2,2] bitcast-convert(x)\n r = f32[3,2] bitcast-convert(b)\n w = s64[3] bitcast-convert(x)\n"
      "u = u16[3,4] bitcast-convert(w)\n d = s64[] constant(5)\n f = s32[2] bitcast-convert(d)\n"
      "ROOT t = (s8[3,2,4], s16[3,2,2], f32[3,2], s64[3], u16[3,4], s32[2]) tuple(b, h, r, w, u, f) }",
      0);
}

HPU_GAUDI_SUITE(ManyDimensionsTest);
HPU_GAUDI_SUITE(BitcastTest);

}  // namespace movement_test
}  // namespace hpu::gaudi
