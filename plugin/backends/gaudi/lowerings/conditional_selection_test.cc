#include "plugin/backends/gaudi/lowerings/conditional_selection.h"

#include "plugin/testing/gaudi_program.h"
#include "xla/literal_util.h"

namespace hpu::gaudi {
namespace {

class ConditionalSelectionTest : public ProgramTest {};

constexpr char kBoolean[] = R"(
HloModule m
yes { s = (f32[3], s32[]) parameter(0)
  x = f32[3] get-tuple-element(s), index=0
  i = s32[] get-tuple-element(s), index=1
  y = f32[3] add(x, x)
  ROOT r = (f32[3], s32[]) tuple(y, i) }
no { s = (f32[3], s32[]) parameter(0)
  x = f32[3] get-tuple-element(s), index=0
  i = s32[] get-tuple-element(s), index=1
  j = s32[] negate(i)
  ROOT r = (f32[3], s32[]) tuple(x, j) }
ENTRY e { p = pred[] parameter(0)
  x = f32[3] parameter(1)
  i = s32[] parameter(2)
  s = (f32[3], s32[]) tuple(x, i)
  ROOT c = (f32[3], s32[]) conditional(p, s, s), true_computation=yes, false_computation=no }
)";

TEST_P(ConditionalSelectionTest, Boolean) {
  for (const bool condition : {true, false}) {
    std::vector<xla::Literal> arguments;
    arguments.push_back(xla::LiteralUtil::CreateR0<bool>(condition));
    arguments.push_back(xla::LiteralUtil::CreateR1<float>({1, 2, 3}));
    arguments.push_back(xla::LiteralUtil::CreateR0<int32_t>(5));
    ExpectSameAsEvaluator(kBoolean, arguments, 0);
  }
}

TEST_P(ConditionalSelectionTest, IndicesOutOfRangeTakeTheLastBranch) {
  for (const int32_t index : {-1, 0, 1, 2, 3}) {
    std::vector<xla::Literal> arguments;
    arguments.push_back(xla::LiteralUtil::CreateR0<int32_t>(index));
    arguments.push_back(xla::LiteralUtil::CreateR1<float>({1, 2, 3}));
    ExpectSameAsEvaluator(R"(
HloModule m
a { x = f32[3] parameter(0)
  ROOT r = f32[3] add(x, x) }
b { x = f32[3] parameter(0)
  ROOT r = f32[3] negate(x) }
c { x = f32[3] parameter(0)
  ROOT r = f32[3] multiply(x, x) }
ENTRY e { i = s32[] parameter(0)
  x = f32[3] parameter(1)
  ROOT r = f32[3] conditional(i, x, x, x), branch_computations={a, b, c} }
)",
                          arguments, 0);
  }
}

HPU_GAUDI_SUITE(ConditionalSelectionTest);

}  // namespace
}  // namespace hpu::gaudi
