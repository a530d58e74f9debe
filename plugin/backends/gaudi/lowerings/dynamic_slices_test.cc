// Dynamic slices and updates. Random starts are -9 to 9 (unsigned: 0 to 18), so many are out of range.
#include "absl/strings/substitute.h"
#include "plugin/testing/gaudi_program.h"

namespace hpu::gaudi {
namespace dynamic_slices_test {

class DynamicSliceTest : public ProgramTest {
 protected:
  // Runs a program with several random arguments.
  void ExpectSameForRandomStarts(absl::string_view hlo) {
    for (int seed = 0; seed < 4; ++seed) {
      ExpectSameAsEvaluator(hlo, RandomArguments(*ParseProgram(hlo), seed), 0);
    }
  }
};

TEST_P(DynamicSliceTest, Slices) {
  for (const char* type : {"f32", "bf16", "s64", "s8", "u16"}) {
    ExpectSameForRandomStarts(
        absl::Substitute("HloModule m\nENTRY e { x = $0[9,6,5] parameter(0)\n a = s32[] parameter(1)\n"
                         "b = s32[] parameter(2)\n c = s32[] parameter(3)\n"
                         "ROOT r = $0[2,3,5] dynamic-slice(x, a, b, c), dynamic_slice_sizes={2,3,5} }",
                         type));
  }
  ExpectSameForRandomStarts(
      "HloModule m\nENTRY e { x = f32[9] parameter(0)\n a = s64[] parameter(1)\n"
      "ROOT r = f32[1] dynamic-slice(x, a), dynamic_slice_sizes={1} }");
  ExpectSameForRandomStarts(
      "HloModule m\nENTRY e { s = f32[] parameter(0)\n x = f32[9,2] broadcast(s), dimensions={}\n"
      "a = u8[] parameter(1)\n b = u8[] constant(0)\n"
      "ROOT r = f32[4,2] dynamic-slice(x, a, b), dynamic_slice_sizes={4,2} }");
}

TEST_P(DynamicSliceTest, Updates) {
  for (const char* type : {"f32", "bf16", "s64", "s8"}) {
    ExpectSameForRandomStarts(
        absl::Substitute("HloModule m\nENTRY e { x = $0[9,6,5] parameter(0)\n u = $0[2,3,5] parameter(1)\n"
                         "a = s32[] parameter(2)\n b = s32[] parameter(3)\n c = s32[] parameter(4)\n"
                         "ROOT r = $0[9,6,5] dynamic-update-slice(x, u, a, b, c) }",
                         type));
  }
  ExpectSameForRandomStarts(
      "HloModule m\nENTRY e { x = f32[9,2] parameter(0)\n u = f32[1,2] parameter(1)\n a = s32[] parameter(2)\n"
      "b = s32[] constant(0)\n ROOT r = f32[9,2] dynamic-update-slice(x, u, a, b) }");
  ExpectSameForRandomStarts(
      "HloModule m\nENTRY e { x = f32[9,2] parameter(0)\n u = f32[9,2] parameter(1)\n a = s32[] parameter(2)\n"
      "ROOT r = f32[9,2] dynamic-update-slice(x, u, a, a) }");
  ExpectSameForRandomStarts(
      "HloModule m\nENTRY e { s = f32[] parameter(0)\n x = f32[9,4] broadcast(s), dimensions={}\n"
      "t = f32[] parameter(1)\n u = f32[3,2] broadcast(t), dimensions={}\n a = s32[] parameter(2)\n"
      "ROOT r = f32[9,4] dynamic-update-slice(x, u, a, a) }");
}

TEST_P(DynamicSliceTest, UpdatesOfEachType) {
  for (const char* type : {"pred", "s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64", "bf16"}) {
    ExpectSameForRandomStarts(
        absl::Substitute("HloModule m\nENTRY e { x = $0[9,4] parameter(0)\n u = $0[3,2] parameter(1)\n"
                         "a = s32[] parameter(2)\n b = s32[] parameter(3)\n"
                         "ROOT r = $0[9,4] dynamic-update-slice(x, u, a, b) }",
                         type));
  }
}

TEST_P(DynamicSliceTest, ScalarsAndEmptyUpdates) {
  ExpectSameAsEvaluator(
      "HloModule m\nENTRY e { x = f32[9] parameter(0)\n u = f32[0] parameter(1)\n a = s32[] parameter(2)\n"
      "ROOT r = f32[9] dynamic-update-slice(x, u, a) }",
      0);
}

HPU_GAUDI_SUITE(DynamicSliceTest);

}  // namespace dynamic_slices_test
}  // namespace hpu::gaudi
