#include "plugin/backends/gaudi/lowerings/instruction_counts.h"

#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "plugin/backends/gaudi/lowerings/hlo_preparation.h"
#include "plugin/backends/gaudi/lowerings/program_lowering.h"
#include "plugin/testing/gaudi_program.h"

namespace hpu::gaudi {
namespace instruction_counts_test {

constexpr PlanTarget kTarget = {synapse::Generation::kGaudi2, synapse::Profile::k1_18};

struct Counted {
  InstructionCounts counts;
  absl::Status status;  // of the lowering
};

Counted Count(absl::string_view hlo) {
  const xla::HloModuleProto proto = ParseProgram(hlo)->ToProto();
  const ProgramTable table = MakeProgramTable(proto).value();
  const std::unique_ptr<xla::HloModule> module = PrepareModule(proto, kTarget).value();
  Counted counted;
  counted.status = LowerProgram(*module, table, kTarget, &counted.counts).status();
  return counted;
}

void ExpectCounts(const InstructionCounts& counts, const std::string& opcode, const OpcodeCounts& want) {
  const auto found = counts.find(opcode);
  ASSERT_NE(counts.end(), found) << opcode;
  EXPECT_EQ(want.no_node, found->second.no_node) << opcode;
  EXPECT_EQ(want.one_node, found->second.one_node) << opcode;
  EXPECT_EQ(want.several_nodes, found->second.several_nodes) << opcode;
  EXPECT_EQ(want.refused, found->second.refused) << opcode;
}

TEST(InstructionCountsTest, InstructionsOfAProgramWithoutRefusals) {
  const Counted counted = Count(
      "HloModule m\nENTRY e { x = f32[4,4] parameter(0)\n y = f32[4,4] parameter(1)\n"
      "p = f32[4,4] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
      "c = f32[] constant(3)\n b = f32[4,4] broadcast(c), dimensions={}\n s = f32[4,4] add(p, b)\n"
      "z = pred[4,4] is-finite(s)\n ROOT r = (f32[4,4], pred[4,4]) tuple(s, z) }");
  ASSERT_TRUE(counted.status.ok()) << counted.status;
  ExpectCounts(counted.counts, "dot", {0, 1, 0, 0});
  ExpectCounts(counted.counts, "add", {0, 1, 0, 0});
  ExpectCounts(counted.counts, "constant", {1, 0, 0, 0});
  ExpectCounts(counted.counts, "is-finite", {0, 0, 1, 0});
  EXPECT_EQ(0, counted.counts.count("parameter"));
  EXPECT_EQ(0, counted.counts.count("tuple"));
}

TEST(InstructionCountsTest, RefusedInstructionsAreCountedAndTheirUsersAreNot) {
  const Counted counted = Count(
      "HloModule m\nENTRY e { x = f32[8] parameter(0)\n y = f32[8] negate(x)\n"
      "f = c64[5] fft(x), fft_type=RFFT, fft_length={8}\n r = f32[5] real(f)\n n = f32[5] negate(r)\n"
      "ROOT t = (f32[8], f32[5]) tuple(y, n) }");
  EXPECT_TRUE(absl::IsUnimplemented(counted.status)) << counted.status;
  ExpectCounts(counted.counts, "fft", {0, 0, 0, 1});
  ExpectCounts(counted.counts, "negate", {0, 1, 0, 0});
}

TEST(InstructionCountsTest, PartsBetweenLoopsAreAdded) {
  const Counted counted = Count(
      "HloModule m\ncondition { s = (f32[4,4], f32[]) parameter(0)\n l = f32[] get-tuple-element(s), index=1\n"
      "v = f32[4,4] get-tuple-element(s), index=0\n w = f32[1,1] slice(v), slice={[0:1], [0:1]}\n"
      "a = f32[] reshape(w)\n ROOT r = pred[] compare(a, l), direction=LT }\n"
      "body { s = (f32[4,4], f32[]) parameter(0)\n v = f32[4,4] get-tuple-element(s), index=0\n"
      "l = f32[] get-tuple-element(s), index=1\n"
      "p = f32[4,4] dot(v, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
      "ROOT r = (f32[4,4], f32[]) tuple(p, l) }\n"
      "ENTRY e { x = f32[4,4] parameter(0)\n l = f32[] parameter(1)\n"
      "p = f32[4,4] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
      "s = (f32[4,4], f32[]) tuple(p, l)\n o = (f32[4,4], f32[]) while(s), condition=condition, body=body\n"
      "v = f32[4,4] get-tuple-element(o), index=0\n"
      "q = f32[4,4] dot(v, v), lhs_contracting_dims={0}, rhs_contracting_dims={1}\n"
      "ROOT r = (f32[4,4]) tuple(q) }");
  ASSERT_TRUE(counted.status.ok()) << counted.status;
  ExpectCounts(counted.counts, "dot", {0, 3, 0, 0});
}

}  // namespace instruction_counts_test
}  // namespace hpu::gaudi
