// Programs with loops that are not unrolled, on the Synapse double.
#include "absl/strings/substitute.h"
#include "plugin/backends/gaudi/compiler/recipe.h"
#include "plugin/testing/gaudi_program.h"
#include "xla/literal_util.h"

namespace hpu::gaudi {
namespace loop_steps_test {

class LoopStepsTest : public ProgramTest {
 protected:
  const std::vector<Step>& StepsOf(absl::string_view hlo) {
    recipe_ = *Compile(*ParseProgram(hlo));
    return dynamic_cast<const GaudiRecipe&>(*recipe_).steps();
  }

 private:
  std::shared_ptr<const hal::Recipe> recipe_;
};

xla::Literal Float(float value) { return xla::LiteralUtil::CreateR0<float>(value); }

// Doubles x until it is at least 100. Counts the iterations, and adds x to a vector.
constexpr char kDoubling[] = R"(
condition { s = (f32[], s32[], f32[3]) parameter(0)
  x = f32[] get-tuple-element(s), index=0
  n = f32[] constant(100)
  ROOT r = pred[] compare(x, n), direction=LT }
body { s = (f32[], s32[], f32[3]) parameter(0)
  x = f32[] get-tuple-element(s), index=0
  i = s32[] get-tuple-element(s), index=1
  v = f32[3] get-tuple-element(s), index=2
  o = s32[] constant(1)
  y = f32[] add(x, x)
  j = s32[] add(i, o)
  b = f32[3] broadcast(y), dimensions={}
  w = f32[3] add(v, b)
  ROOT r = (f32[], s32[], f32[3]) tuple(y, j, w) }
)";

// Graphs before and after the loop. The initial state consists of an argument, a constant and a computed value.
TEST_P(LoopStepsTest, LoopUntilAValueExceedsABound) {
  const std::string program = absl::StrCat("HloModule m\n", kDoubling, R"(
ENTRY e { x = f32[] parameter(0)
  v = f32[3] parameter(1)
  z = s32[] constant(0)
  u = f32[3] multiply(v, v)
  s = (f32[], s32[], f32[3]) tuple(x, z, u)
  l = (f32[], s32[], f32[3]) while(s), condition=condition, body=body
  y = f32[] get-tuple-element(l), index=0
  i = s32[] get-tuple-element(l), index=1
  w = f32[3] get-tuple-element(l), index=2
  t = f32[3] subtract(w, v)
  ROOT r = (f32[], s32[], f32[3], f32[3]) tuple(y, i, t, v) }
)");
  const xla::Literal v = xla::LiteralUtil::CreateR1<float>({1, -2, 3});
  ExpectSameAsEvaluator(program, ArgumentsOf(Float(0.75f), v));
  ExpectSameAsEvaluator(program, ArgumentsOf(Float(60), v));   // one iteration
  ExpectSameAsEvaluator(program, ArgumentsOf(Float(100), v));  // none
  const std::vector<Step>& steps = StepsOf(program);
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_GE(steps[0].graph, 0);
  EXPECT_LT(steps[1].graph, 0);
  EXPECT_FALSE(steps[1].count.has_value());
  EXPECT_EQ(steps[1].body.size(), 1u);
  EXPECT_GE(steps[2].graph, 0);
}

// Results of the first loop are in the second loop's initial state.
TEST_P(LoopStepsTest, TwoLoops) {
  ExpectSameAsEvaluator(absl::StrCat("HloModule m\n", kDoubling, R"(
ENTRY e { x = f32[] parameter(0)
  v = f32[3] parameter(1)
  z = s32[] constant(0)
  s = (f32[], s32[], f32[3]) tuple(x, z, v)
  l = (f32[], s32[], f32[3]) while(s), condition=condition, body=body
  y = f32[] get-tuple-element(l), index=0
  i = s32[] get-tuple-element(l), index=1
  w = f32[3] get-tuple-element(l), index=2
  h = f32[] constant(0.01)
  g = f32[] multiply(y, h)
  t = (f32[], s32[], f32[3]) tuple(g, i, w)
  k = (f32[], s32[], f32[3]) while(t), condition=condition, body=body
  a = f32[3] get-tuple-element(k), index=2
  b = s32[] get-tuple-element(k), index=1
  c = f32[3] add(a, w)
  ROOT r = (f32[3], s32[], f32[]) tuple(c, b, y) }
)"),
                        ArgumentsOf(Float(3), xla::LiteralUtil::CreateR1<float>({1, -2, 3})));
}

// The inner loop also has an unknown length, and operations before and after it. The outer body returns one element of
// its state unchanged, and another element in a different position.
TEST_P(LoopStepsTest, NestedLoops) {
  ExpectSameAsEvaluator(
      absl::StrCat("HloModule m\n", kDoubling, R"(
outer_condition { s = (s32[], s32[], f32[], f32[3], f32[3]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] get-tuple-element(s), index=1
  ROOT r = pred[] compare(i, n), direction=LT }
outer_body { s = (s32[], s32[], f32[], f32[3], f32[3]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] get-tuple-element(s), index=1
  x = f32[] get-tuple-element(s), index=2
  v = f32[3] get-tuple-element(s), index=3
  w = f32[3] get-tuple-element(s), index=4
  z = s32[] constant(0)
  b = f32[3] add(v, w)
  t = (f32[], s32[], f32[3]) tuple(x, z, b)
  l = (f32[], s32[], f32[3]) while(t), condition=condition, body=body
  c = s32[] get-tuple-element(l), index=1
  d = f32[3] get-tuple-element(l), index=2
  h = f32[] constant(3)
  y = f32[] add(x, h)
  q = f32[] constant(0.01)
  qs = f32[3] broadcast(q), dimensions={}
  e = f32[3] multiply(d, qs)
  j = s32[] add(i, c)
  ROOT r = (s32[], s32[], f32[], f32[3], f32[3]) tuple(j, n, y, w, e) }
ENTRY e { n = s32[] parameter(0)
  v = f32[3] parameter(1)
  w = f32[3] parameter(2)
  x = f32[] constant(5)
  z = s32[] constant(0)
  s = (s32[], s32[], f32[], f32[3], f32[3]) tuple(z, n, x, v, w)
  l = (s32[], s32[], f32[], f32[3], f32[3]) while(s), condition=outer_condition, body=outer_body
  i = s32[] get-tuple-element(l), index=0
  a = f32[3] get-tuple-element(l), index=3
  b = f32[3] get-tuple-element(l), index=4
  m = s32[] get-tuple-element(l), index=1
  ROOT r = (s32[], f32[3], f32[3], s32[]) tuple(i, a, b, m) }
)"),
      ArgumentsOf(xla::LiteralUtil::CreateR0<int32_t>(20), xla::LiteralUtil::CreateR1<float>({1, -2, 3}),
                  xla::LiteralUtil::CreateR1<float>({4, 5, -6})));
}

// The loop's result is in the memory of an argument, which the loop and an operation after the loop read.
TEST_P(LoopStepsTest, ResultsOfLoopsMayAliasArguments) {
  const std::string program = absl::StrCat("HloModule m, input_output_alias={ {0}: (1, {}, may-alias) }\n", kDoubling,
                                           R"(
ENTRY e { x = f32[] parameter(0)
  v = f32[3] parameter(1)
  z = s32[] constant(0)
  s = (f32[], s32[], f32[3]) tuple(x, z, v)
  l = (f32[], s32[], f32[3]) while(s), condition=condition, body=body
  w = f32[3] get-tuple-element(l), index=2
  d = f32[3] subtract(w, v)
  ROOT r = (f32[3], f32[3]) tuple(w, d) }
)");
  ExpectSameAsEvaluator(program, ArgumentsOf(Float(2), xla::LiteralUtil::CreateR1<float>({1, -2, 3})));
}

// 110 iterations of 200 additions: too many instructions to unroll, but the number of iterations is known.
TEST_P(LoopStepsTest, LongLoopsAreCounted) {
  std::string sums = "  a0 = s32[4] get-tuple-element(s), index=1\n";
  for (int i = 1; i <= 200; ++i) absl::StrAppend(&sums, "  a", i, " = s32[4] add(a", i - 1, ", x)\n");
  const std::string program = absl::StrCat(R"(
HloModule m
condition { s = (s32[], s32[4], s32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(110)
  ROOT r = pred[] compare(i, n), direction=LT }
body { s = (s32[], s32[4], s32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = s32[4] get-tuple-element(s), index=2
)",
                                           sums, R"(
  o = s32[] constant(1)
  j = s32[] add(i, o)
  ROOT r = (s32[], s32[4], s32[4]) tuple(j, a200, x) }
ENTRY e { x = s32[4] parameter(0)
  z = s32[] constant(0)
  a = s32[4] broadcast(z), dimensions={}
  s = (s32[], s32[4], s32[4]) tuple(z, a, x)
  l = (s32[], s32[4], s32[4]) while(s), condition=condition, body=body
  ROOT b = s32[4] get-tuple-element(l), index=1 }
)");
  ExpectSameAsEvaluator(program);
  const std::vector<Step>& steps = StepsOf(program);
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_EQ(steps[1].count, 110u);
}

TEST_P(LoopStepsTest, LoopsRunAfterSavingAndLoading) {
  const auto module = ParseProgram(absl::StrCat("HloModule m\n", kDoubling, R"(
ENTRY e { x = f32[] parameter(0)
  v = f32[3] parameter(1)
  z = s32[] constant(0)
  s = (f32[], s32[], f32[3]) tuple(x, z, v)
  l = (f32[], s32[], f32[3]) while(s), condition=condition, body=body
  w = f32[3] get-tuple-element(l), index=2
  ROOT r = (f32[3]) tuple(w) }
)"));
  const std::string bytes = *(*Compile(*module))->Serialize();
  const auto loaded = device().LoadRecipe("loaded", bytes);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(bytes, *(*loaded)->Serialize());
  const auto arguments = ArgumentsOf(Float(2), xla::LiteralUtil::CreateR1<float>({1, -2, 3}));
  const auto got = Launch(*loaded, *module, arguments);
  ASSERT_TRUE(got.ok()) << got.status();
  ExpectNear((*got)[0], Evaluate(*module, arguments)[0], 1e-5);
}

// A branch with a loop runs only if it is taken: the loop would not end for a negative x.
TEST_P(LoopStepsTest, BranchesWithLoops) {
  const std::string program = absl::StrCat("HloModule m\n", kDoubling, R"(
doubled { x = f32[] parameter(0)
  z = s32[] constant(0)
  b = f32[3] broadcast(x), dimensions={}
  s = (f32[], s32[], f32[3]) tuple(x, z, b)
  l = (f32[], s32[], f32[3]) while(s), condition=condition, body=body
  i = s32[] get-tuple-element(l), index=1
  w = f32[3] get-tuple-element(l), index=2
  ROOT r = (f32[3], s32[]) tuple(w, i) }
kept { x = f32[] parameter(0)
  c = s32[] constant(-7)
  b = f32[3] broadcast(x), dimensions={}
  ROOT r = (f32[3], s32[]) tuple(b, c) }
ENTRY e { x = f32[] parameter(0)
  z = f32[] constant(0)
  p = pred[] compare(x, z), direction=GT
  c = (f32[3], s32[]) conditional(p, x, x), true_computation=doubled, false_computation=kept
  w = f32[3] get-tuple-element(c), index=0
  i = s32[] get-tuple-element(c), index=1
  ROOT r = (f32[3], s32[]) tuple(w, i) }
)");
  ExpectSameAsEvaluator(program, ArgumentsOf(Float(1.5f)));
  ExpectSameAsEvaluator(program, ArgumentsOf(Float(-1)));
}

// The refusal names unsupported instructions of the loop's body and of the entry.
TEST_P(LoopStepsTest, RefusalsNameTheInstructionsOfBodies) {
  const char* program = R"(
HloModule m
condition { s = (f32[4]) parameter(0)
  x = f32[4] get-tuple-element(s), index=0
  f = f32[1] slice(x), slice={[0:1]}
  e = f32[] reshape(f)
  n = f32[] constant(100)
  ROOT r = pred[] compare(e, n), direction=LT }
body { s = (f32[4]) parameter(0)
  x = f32[4] get-tuple-element(s), index=0
  w = f64[4] convert(x)
  inner = f64[4] cosine(w), metadata={op_name="inner"}
  v = f32[4] convert(inner)
  y = f32[4] add(x, v)
  ROOT r = (f32[4]) tuple(y) }
ENTRY e { x = f32[4] parameter(0)
  s = (f32[4]) tuple(x)
  l = (f32[4]) while(s), condition=condition, body=body
  y = f32[4] get-tuple-element(l), index=0
  w = f64[4] convert(y)
  outer = f64[4] sine(w), metadata={op_name="outer"}
  ROOT v = f32[4] convert(outer) }
)";
  const absl::Status refusal = RefusalOf(program);
  for (const char* part : {"{{node inner}}", "{{node outer}}"}) {
    ExpectError(refusal, absl::StatusCode::kUnimplemented, part);
  }
}

// The refusal of a loop with an unsupported state names the loop's op, so that the op leaves the cluster.
TEST_P(LoopStepsTest, RefusalsNameTheOpOfTheLoop) {
  constexpr char kLoop[] = R"(
HloModule m
condition { s = $0 parameter(0)
  x = f32[] get-tuple-element(s), index=0
  n = f32[] constant(100)
  ROOT r = pred[] compare(x, n), direction=LT }
body { s = $0 parameter(0)
  x = f32[] get-tuple-element(s), index=0
  w = $1 get-tuple-element(s), index=1
  y = f32[] add(x, x)
  v = $1 $2
  ROOT r = $0 tuple(y, v) }
ENTRY e { x = f32[] parameter(0)
  z = $1 $3
  s = $0 tuple(x, z)
  l = $0 while(s), condition=condition, body=body, metadata={op_name="model/While"}
  v = $1 get-tuple-element(l), index=1
  ROOT y = f32[] custom-call(v), custom_call_target="after", metadata={op_name="after"} }
)";
  ExpectRefused(absl::Substitute(kLoop, "(f32[], f64[2])", "f64[2]", "negate(w)", "constant({1, 2})"),
                "{{node model/While}}");
  ExpectRefused(R"(
HloModule m
condition { x = f32[] parameter(0)
  n = f32[] constant(100)
  ROOT r = pred[] compare(x, n), direction=LT }
body { x = f32[] parameter(0)
  ROOT y = f32[] add(x, x) }
ENTRY e { x = f32[] parameter(0)
  ROOT l = f32[] while(x), condition=condition, body=body, metadata={op_name="model/Scalar"} }
)",
                "{{node model/Scalar}}");
}

HPU_GAUDI_SUITE(LoopStepsTest);

}  // namespace loop_steps_test
}  // namespace hpu::gaudi
