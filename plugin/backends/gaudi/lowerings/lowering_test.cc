// Programs as a whole: arguments, results, aliases, movement, products and reductions.
#include "plugin/backends/gaudi/lowerings/lowering.h"

#include "absl/strings/match.h"
#include "absl/strings/substitute.h"
#include "plugin/testing/gaudi_program.h"

namespace hpu::gaudi {
namespace {

class LoweringTest : public ProgramTest {};

TEST_P(LoweringTest, Products) {
  ExpectSameAsEvaluator(
      "HloModule m\nENTRY e { x = f32[3,5] parameter(0)\n y = f32[5,4] parameter(1)\n"
      "ROOT r = f32[3,4] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0} }");
  ExpectSameAsEvaluator(
      "HloModule m\nENTRY e { x = f32[5,3] parameter(0)\n y = f32[4,5] parameter(1)\n"
      "ROOT r = f32[3,4] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={1} }");
  ExpectSameAsEvaluator(
      "HloModule m\nENTRY e { x = f32[2,3,7,5] parameter(0)\n y = f32[2,3,4,5] parameter(1)\n"
      "ROOT r = f32[2,3,7,4] dot(x, y), lhs_batch_dims={0,1}, rhs_batch_dims={0,1}, lhs_contracting_dims={3}, "
      "rhs_contracting_dims={3} }");
  ExpectSameAsEvaluator(
      "HloModule m\nENTRY e { x = f32[5] parameter(0)\n y = f32[5] parameter(1)\n"
      "ROOT r = f32[] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0} }");
}

TEST_P(LoweringTest, Movement) {
  ExpectSameAsEvaluator(
      "HloModule m\nENTRY e { x = f32[3,4,5] parameter(0)\n t = f32[5,3,4] transpose(x), dimensions={2,0,1}\n"
      "s = f32[2,3,2] slice(t), slice={[1:5:3], [0:3], [2:4]}\n z = f32[] constant(7)\n"
      "p = f32[5,7,4] pad(s, z), padding=1_2x0_4x1_1\n i = f32[4,3,5] pad(s, z), padding=1_1x0_0x0_2_1\n"
      "n = f32[1,3,3] pad(s, z), padding=-1_0x0_0x0_1\n v = f32[2,3,2] reverse(s), dimensions={0,2}\n"
      "c = f32[4,3,2] concatenate(s, v), dimensions={0}\n"
      "ROOT r = (f32[5,7,4], f32[4,3,5], f32[1,3,3], f32[2,3,2], f32[4,3,2]) tuple(p, i, n, v, c) }",
      0);
}

TEST_P(LoweringTest, Reductions) {
  for (const char* opcode : {"add", "multiply", "maximum", "minimum"}) {
    for (const char* dimensions : {"0", "1", "2", "0,2", "0,1,2"}) {
      const std::string shape = absl::string_view(dimensions) == "0"     ? "f32[4,5]"
                                : absl::string_view(dimensions) == "1"   ? "f32[3,5]"
                                : absl::string_view(dimensions) == "2"   ? "f32[3,4]"
                                : absl::string_view(dimensions) == "0,2" ? "f32[4]"
                                                                         : "f32[]";
      ExpectSameAsEvaluator(
          absl::Substitute("HloModule m\nf { a = f32[] parameter(0)\n b = f32[] parameter(1)\n"
                           "ROOT r = f32[] $0(a, b) }\nENTRY e { x = f32[3,4,5] parameter(0)\n"
                           "i = f32[] parameter(1)\n"
                           "ROOT r = $2 reduce(x, i), dimensions={$1}, to_apply=f }",
                           opcode, dimensions, shape));
    }
  }
}

TEST_P(LoweringTest, ResultsThatAreArgumentsOrConstantsOrEqual) {
  ExpectSameAsEvaluator(
      "HloModule m\nENTRY e { x = f32[3] parameter(0)\n c = f32[3] constant({1,2,3})\n s = f32[3] add(x, c)\n"
      "ROOT r = (f32[3], f32[3], f32[3], f32[3], f32[3]) tuple(x, c, s, s, x) }",
      0);
}

TEST_P(LoweringTest, EmptyArrays) {
  ExpectSameAsEvaluator(
      "HloModule m\nENTRY e { x = f32[0,3] parameter(0)\n y = f32[2,3] parameter(1)\n"
      "c = f32[2,3] concatenate(x, y), dimensions={0}\n ROOT r = (f32[0,3], f32[2,3]) tuple(x, c) }",
      0);
}

TEST_P(LoweringTest, ResultsInTheMemoryOfArguments) {
  // n replaces w, but q needs both n and the old w. q replaces v.
  ExpectSameAsEvaluator(
      "HloModule m, input_output_alias={ {0}: (0, {}, may-alias), {1}: (1, {}, may-alias) }\n"
      "ENTRY e { w = f32[4,4] parameter(0)\n v = f32[4,4] parameter(1)\n"
      "p = f32[4,4] dot(w, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n n = f32[4,4] subtract(w, p)\n"
      "q = f32[4,4] dot(n, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
      "ROOT r = (f32[4,4], f32[4,4], f32[4,4]) tuple(n, q, p) }");
  // Two arguments change places.
  ExpectSameAsEvaluator(
      "HloModule m, input_output_alias={ {0}: (0, {}, may-alias), {1}: (1, {}, may-alias) }\n"
      "ENTRY e { a = f32[4] parameter(0)\n b = f32[4] parameter(1)\n ROOT r = (f32[4], f32[4]) tuple(b, a) }",
      0);
  // The argument keeps its value.
  ExpectSameAsEvaluator(
      "HloModule m, input_output_alias={ {0}: (0, {}, may-alias) }\n"
      "ENTRY e { a = f32[4] parameter(0)\n b = f32[4] add(a, a)\n ROOT r = (f32[4], f32[4]) tuple(a, b) }",
      0);
}

TEST_P(LoweringTest, ErrorsNameInstructionAndOp) {
  ExpectRefused(
      "HloModule m\nENTRY e { x = c64[3] parameter(0)\n y = f32[3] real(x), metadata={op_name=\"model/Real\"}\n"
      "ROOT r = (f32[3]) tuple(y) }",
      "c64");
  ExpectRefused(
      "HloModule m\nENTRY e { x = f32[3,3] parameter(0)\n"
      "ROOT y = f32[3,3] cholesky(x), lower=true, metadata={op_name=\"model/Cholesky\"} }",
      "op {{node model/Cholesky}}), f32[3,3]: Gaudi has no kernel for cholesky");
}

TEST_P(LoweringTest, ErrorsNameAllOpsWithoutNodes) {
  constexpr absl::string_view kProgram = R"(
HloModule m
ENTRY e {
  x = f32[3,3] parameter(0)
  w = f64[3,3] parameter(1)
  c = f32[3,3] cholesky(x), lower=true, metadata={op_name="first"}
  d = f32[3,3] add(c, x), metadata={op_name="between"}
  e = f32[3,3] cholesky(d), lower=true, metadata={op_name="second"}
  f = f32[3,3] multiply(x, x), metadata={op_name="good"}
  g = f32[3,3] cholesky(f), lower=true, metadata={op_name="third"}
  n = f32[3,3] convert(w), metadata={op_name="narrow"}
  ROOT r = (f32[3,3], f32[3,3], f32[3,3], f32[3,3]) tuple(e, f, g, n)
})";
  const absl::Status status = RefusalOf(kProgram);
  for (const char* part : {"{{node first}}", "{{node third}}", "{{node narrow}}), f32[3,3]: gaudi"}) {
    EXPECT_TRUE(absl::StrContains(status.message(), part)) << status << " lacks " << part;
  }
  // Errors do not name ops that depend on a refused op, because the lowering may support those ops.
  for (const char* part : {"between", "second", "good", "argument"}) {
    EXPECT_FALSE(absl::StrContains(status.message(), part)) << status << " has " << part;
  }
}

// Instructions that passes add have no op.
TEST_P(LoweringTest, ErrorsNameTheNearestOp) {
  ExpectRefused(
      "HloModule m\nENTRY e { x = f32[3,3] parameter(0)\n c = f32[3,3] cholesky(x), lower=true\n"
      "n = f32[3,3] negate(c)\n ROOT y = f32[3,3] add(n, x), metadata={op_name=\"user\"} }",
      "{{node user}}");
  ExpectRefused(
      "HloModule m\nENTRY e { x = f32[3,3] parameter(0)\n n = f32[3,3] negate(x), metadata={op_name=\"used\"}\n"
      "ROOT c = f32[3,3] cholesky(n), lower=true }",
      "{{node used}}");
}

TEST_P(LoweringTest, ArgumentsWithoutAType) {
  ExpectRefused(
      "HloModule m\nENTRY e { x = f32[3] parameter(0)\n y = f64[3] parameter(1)\n z = f32[3] add(x, x)\n"
      "ROOT r = (f32[3], f64[3]) tuple(z, y) }",
      "argument 1: ");
}

HPU_GAUDI_SUITE(LoweringTest);

}  // namespace
}  // namespace hpu::gaudi
