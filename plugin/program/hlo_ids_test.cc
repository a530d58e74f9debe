// Tests of the ids in programs: those of every release of XLA become equal, and operands stay what they are.
#include "plugin/program/hlo_ids.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace hpu {
namespace hlo_ids_test {

// A computation of two parameters and their difference, `left` minus `right`. References have `upper` in their upper
// half.
xla::HloModuleProto Difference(int64_t first_id, int64_t upper, int64_t left, int64_t right) {
  xla::HloModuleProto module;
  module.set_entry_computation_id(7);
  xla::HloComputationProto* computation = module.add_computations();
  computation->set_id(7);
  for (int64_t i = 0; i < 3; ++i) {
    xla::HloInstructionProto* instruction = computation->add_instructions();
    instruction->set_opcode(i < 2 ? "parameter" : "subtract");
    instruction->set_id(first_id + i);
  }
  for (const int64_t operand : {left, right}) {
    computation->mutable_instructions(2)->add_operand_ids((upper << 32) | (first_id + operand));
  }
  computation->set_root_id((upper << 32) | (first_id + 2));
  RenumberIds(&module);
  return module;
}

TEST(HloIdsTest, ReferencesWithTheComputationBecomePlain) {
  const xla::HloModuleProto plain = Difference(4, 0, 0, 1);
  EXPECT_EQ(plain.SerializeAsString(), Difference(0, 7, 0, 1).SerializeAsString());
  EXPECT_EQ(plain.computations(0).root_id(), plain.computations(0).instructions(2).id());
  EXPECT_EQ(plain.entry_computation_id(), plain.computations(0).id());
}

TEST(HloIdsTest, OperandsKeepTheirOrder) {
  for (const int64_t upper : {0, 7}) {
    EXPECT_NE(Difference(0, upper, 0, 1).SerializeAsString(), Difference(0, upper, 1, 0).SerializeAsString());
    EXPECT_EQ(Difference(0, upper, 1, 0).computations(0).instructions(2).operand_ids(0), 2);
  }
}

TEST(HloIdsTest, ComputationsMayNumberTheirInstructionsAlike) {
  xla::HloModuleProto module;
  for (const int64_t computation : {1, 2}) {
    xla::HloComputationProto* added = module.add_computations();
    added->set_id(computation);
    added->add_instructions()->set_id(1);
    added->set_root_id((computation << 32) | 1);
  }
  RenumberIds(&module);
  EXPECT_EQ(module.computations(0).root_id(), 1);
  EXPECT_EQ(module.computations(1).root_id(), 2);
}

TEST(HloIdsTest, TheScheduleFollows) {
  xla::HloModuleProto module;
  xla::HloComputationProto* computation = module.add_computations();
  computation->set_id(5);
  for (const int64_t id : {3, 9}) computation->add_instructions()->set_id(id);
  (*module.mutable_schedule()->mutable_sequences())[5].add_instruction_ids((int64_t{5} << 32) | 9);
  RenumberIds(&module);
  EXPECT_EQ(module.schedule().sequences().at(1).instruction_ids(0), 2);
}

}  // namespace hlo_ids_test
}  // namespace hpu
