#include "plugin/backends/gaudi/lowerings/loop_unrolling.h"

#include "plugin/testing/gaudi_program.h"

namespace hpu::gaudi {
namespace {

class LoopUnrollingTest : public ProgramTest {};

// Adds x to a sum five times, with a counter that is used as an index.
constexpr char kSum[] = R"(
HloModule m
condition { s = (s32[], f32[3], f32[5,3]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(5)
  ROOT r = pred[] compare(i, n), direction=LT }
body { s = (s32[], f32[3], f32[5,3]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  a = f32[3] get-tuple-element(s), index=1
  x = f32[5,3] get-tuple-element(s), index=2
  z = s32[] constant(0)
  o = s32[] constant(1)
  w = f32[1,3] dynamic-slice(x, i, z), dynamic_slice_sizes={1,3}
  v = f32[3] reshape(w)
  b = f32[3] add(a, v)
  j = s32[] add(i, o)
  ROOT r = (s32[], f32[3], f32[5,3]) tuple(j, b, x) }
ENTRY e { x = f32[5,3] parameter(0)
  z = s32[] constant(0)
  f = f32[] constant(0)
  a = f32[3] broadcast(f), dimensions={}
  s = (s32[], f32[3], f32[5,3]) tuple(z, a, x)
  l = (s32[], f32[3], f32[5,3]) while(s), condition=condition, body=body
  i = s32[] get-tuple-element(l), index=0
  b = f32[3] get-tuple-element(l), index=1
  ROOT r = (s32[], f32[3]) tuple(i, b) }
)";

TEST_P(LoopUnrollingTest, IterationsBecomeNodes) { ExpectSameAsEvaluator(kSum); }

// The condition reads two counters and a limit, as TensorFlow's loops do.
TEST_P(LoopUnrollingTest, TwoCounters) {
  ExpectSameAsEvaluator(R"(
HloModule m
condition { s = (s32[], s32[], s32[], f32[3]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  t = s32[] get-tuple-element(s), index=1
  n = s32[] get-tuple-element(s), index=2
  a = pred[] compare(i, n), direction=LT
  b = pred[] compare(t, n), direction=LT
  ROOT r = pred[] and(a, b) }
body { s = (s32[], s32[], s32[], f32[3]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  t = s32[] get-tuple-element(s), index=1
  n = s32[] get-tuple-element(s), index=2
  x = f32[3] get-tuple-element(s), index=3
  o = s32[] constant(1)
  j = s32[] add(i, o)
  u = s32[] add(t, o)
  y = f32[3] add(x, x)
  ROOT r = (s32[], s32[], s32[], f32[3]) tuple(j, u, n, y) }
ENTRY e { x = f32[3] parameter(0)
  z = s32[] constant(0)
  n = s32[] constant(4)
  s = (s32[], s32[], s32[], f32[3]) tuple(z, z, n, x)
  l = (s32[], s32[], s32[], f32[3]) while(s), condition=condition, body=body
  ROOT y = f32[3] get-tuple-element(l), index=3 }
)",
                        0);
}

TEST_P(LoopUnrollingTest, LoopsThatAreTooLongStay) {
  const auto module = ParseProgram(kSum);
  ASSERT_EQ(absl::OkStatus(), UnrollLoops(module.get(), 10));
  EXPECT_TRUE(absl::StrContains(module->ToString(), "while("));
  ASSERT_EQ(absl::OkStatus(), UnrollLoops(module.get(), 1000));
  EXPECT_FALSE(absl::StrContains(module->ToString(), "while("));
}

HPU_GAUDI_SUITE(LoopUnrollingTest);

}  // namespace
}  // namespace hpu::gaudi
