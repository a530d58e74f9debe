// Scatters. Random indices are -9 to 9, so that many repeat or are out of range.
#include <limits>

#include "absl/strings/substitute.h"
#include "plugin/testing/gaudi_program.h"
#include "xla/literal_util.h"

namespace hpu::gaudi {
namespace scatters_test {

// A scatter of rows: $0 type, $1 the combiner's instruction, $2 number of updates.
constexpr char kRows[] =
    "HloModule m\nf { a = $0[] parameter(0)\n b = $0[] parameter(1)\n ROOT r = $0[] $1 }\n"
    "ENTRY e { x = $0[6,3] parameter(0)\n i = s32[$2] parameter(1)\n u = $0[$2,3] parameter(2)\n"
    "ROOT r = $0[6,3] scatter(x, i, u), update_window_dims={1}, inserted_window_dims={0}, "
    "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=f }";

class ScatterTest : public ProgramTest {};

TEST_P(ScatterTest, Sums) {
  for (const char* type : {"f32", "s32", "u32", "s64", "s8"}) {
    ExpectSameAsEvaluator(absl::Substitute(kRows, type, "add(a, b)", 40));
  }
  // The evaluator rounds each sum to bfloat16.
  ExpectSameAsEvaluator(absl::Substitute(kRows, "bf16", "add(a, b)", 12), 2e-2);
}

TEST_P(ScatterTest, OtherCombiners) {
  for (const char* combiner : {"maximum(a, b)", "minimum(a, b)", "multiply(a, b)"}) {
    for (const char* type : {"f32", "s32"}) {
      for (const int updates : {1, 2, 7, 20}) {
        ExpectSameAsEvaluator(absl::Substitute(kRows, type, combiner, updates), 1e-5);
      }
    }
  }
  ExpectSameAsEvaluator(absl::Substitute(kRows, "u32", "maximum(a, b)", 20), 0);
  ExpectSameAsEvaluator(absl::Substitute(kRows, "pred", "or(a, b)", 20), 0);
  ExpectSameAsEvaluator(absl::Substitute(kRows, "s32", "xor(a, b)", 20), 0);
  ExpectSameAsEvaluator(absl::Substitute(kRows, "s64", "minimum(a, b)", 20), 0);
}

// No kernel has the type u16.
TEST_P(ScatterTest, UnsignedShorts) {
  for (const char* combiner : {"add", "maximum", "minimum", "multiply"}) {
    const std::string program = absl::Substitute(
        "HloModule m\nf { a = u16[] parameter(0)\n b = u16[] parameter(1)\n ROOT r = u16[] $0(a, b) }\n"
        "ENTRY e { x = u16[5,3] parameter(0)\n i = s32[6,1] parameter(1)\n u = u16[6,3] parameter(2)\n"
        "ROOT r = u16[5,3] scatter(x, i, u), update_window_dims={1}, inserted_window_dims={0}, "
        "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=f }",
        combiner);
    std::vector<xla::Literal> arguments = RandomArguments(*ParseProgram(program));
    arguments[1] = xla::LiteralUtil::CreateR2<int32_t>({{4}, {1}, {1}, {7}, {4}, {1}});
    arguments[2].Set<uint16_t>({1, 0}, 0xfff0);  // larger than every s16
    ExpectSameAsEvaluator(program, arguments, 0);
  }
}

TEST_P(ScatterTest, NanInMaxima) {
  std::vector<xla::Literal> arguments;
  arguments.push_back(xla::LiteralUtil::CreateR2<float>({{1, 2}, {3, 4}, {5, 6}}));
  arguments.push_back(xla::LiteralUtil::CreateR1<int32_t>({0, 2, 0, 2}));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  arguments.push_back(xla::LiteralUtil::CreateR2<float>({{nan, 0}, {0, 9}, {7, 7}, {nan, -1}}));
  ExpectSameAsEvaluator(
      "HloModule m\nf { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] maximum(a, b) }\n"
      "ENTRY e { x = f32[3,2] parameter(0)\n i = s32[4] parameter(1)\n u = f32[4,2] parameter(2)\n"
      "ROOT r = f32[3,2] scatter(x, i, u), update_window_dims={1}, inserted_window_dims={0}, "
      "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=f }",
      arguments, 0);
}

// Which of equal indices wins is undefined, so the indices differ.
TEST_P(ScatterTest, Replacements) {
  for (const char* type : {"f32", "bf16", "s64", "u32", "s8", "pred"}) {
    const std::string hlo = absl::Substitute(
        "HloModule m\nf { a = $0[] parameter(0)\n ROOT b = $0[] parameter(1) }\n"
        "ENTRY e { x = $0[5,4] parameter(0)\n i = s32[4,2] parameter(1)\n u = $0[4] parameter(2)\n"
        "ROOT r = $0[5,4] scatter(x, i, u), update_window_dims={}, inserted_window_dims={0,1}, "
        "scatter_dims_to_operand_dims={0,1}, index_vector_dim=1, to_apply=f }",
        type);
    std::vector<xla::Literal> arguments = RandomArguments(*ParseProgram(hlo));
    // The third is out of range in one dimension, and would be element (4, 0) as a linear index.
    arguments[1] = xla::LiteralUtil::CreateR2<int32_t>({{1, 2}, {4, 3}, {3, 4}, {-1, 0}});
    ExpectSameAsEvaluator(hlo, arguments, 0);
  }
}

TEST_P(ScatterTest, CombinersThatIgnoreAnOperand) {
  ExpectSameAsEvaluator(
      "HloModule m\nf { ROOT a = f32[] parameter(0)\n b = f32[] parameter(1) }\n"
      "ENTRY e { x = f32[5] parameter(0)\n i = s32[4] parameter(1)\n u = f32[4] parameter(2)\n"
      "ROOT r = f32[5] scatter(x, i, u), update_window_dims={}, inserted_window_dims={0}, "
      "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=f }",
      0);
}

TEST_P(ScatterTest, Windows) {
  // A window of 2 by 2 is dropped as a whole if a part is outside.
  const std::string hlo =
      "HloModule m\nf { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] add(a, b) }\n"
      "ENTRY e { x = f32[4,3,5] parameter(0)\n i = s32[6,2] parameter(1)\n u = f32[6,2,3,2] parameter(2)\n"
      "ROOT r = f32[4,3,5] scatter(x, i, u), update_window_dims={1,2,3}, inserted_window_dims={}, "
      "scatter_dims_to_operand_dims={2,0}, index_vector_dim=1, to_apply=f }";
  std::vector<xla::Literal> arguments = RandomArguments(*ParseProgram(hlo));
  arguments[1] = xla::LiteralUtil::CreateR2<int32_t>({{0, 0}, {3, 2}, {4, 0}, {1, 3}, {-1, 0}, {3, 2}});
  ExpectSameAsEvaluator(hlo, arguments);
  // An index into a dimension that the window covers must be 0.
  const std::string covered =
      "HloModule m\nf { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] add(a, b) }\n"
      "ENTRY e { x = f32[4,3] parameter(0)\n i = s32[3,1] parameter(1)\n u = f32[3,4,3] parameter(2)\n"
      "ROOT r = f32[4,3] scatter(x, i, u), update_window_dims={1,2}, inserted_window_dims={}, "
      "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=f }";
  arguments = RandomArguments(*ParseProgram(covered));
  arguments[1] = xla::LiteralUtil::CreateR2<int32_t>({{0}, {1}, {-1}});
  ExpectSameAsEvaluator(covered, arguments);
}

// The gradient of tf.image.resize: updates of rank 6.
TEST_P(ScatterTest, WindowsOfAnImage) {
  ExpectSameAsEvaluator(
      "HloModule m\nf { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] add(a, b) }\n"
      "ENTRY e { z = f32[] constant(0)\n x = f32[2,9,9,3] broadcast(z), dimensions={}\n i = s32[4,3,2] parameter(0)\n"
      "v = f32[12,36] parameter(1)\n w = f32[4,3,2,3,2,3] reshape(v)\n"
      "u = f32[2,3,2,3,4,3] transpose(w), dimensions={2,5,4,3,0,1}\n"
      "ROOT r = f32[2,9,9,3] scatter(x, i, u), update_window_dims={0,1,2,3}, inserted_window_dims={}, "
      "scatter_dims_to_operand_dims={1,2}, index_vector_dim=2, to_apply=f }");
}

TEST_P(ScatterTest, NothingToScatter) {
  ExpectSameAsEvaluator(
      "HloModule m\nf { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] add(a, b) }\n"
      "ENTRY e { x = f32[4,3] parameter(0)\n i = s32[0] parameter(1)\n u = f32[0,3] parameter(2)\n"
      "ROOT r = f32[4,3] scatter(x, i, u), update_window_dims={1}, inserted_window_dims={0}, "
      "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=f }",
      0);
}

HPU_GAUDI_SUITE(ScatterTest);

}  // namespace scatters_test
}  // namespace hpu::gaudi
