// Row rules: which HLO instructions keep rows independent.
#ifndef HPU_PLUGIN_COMPILER_DYNAMIC_SHAPES_ROW_RULES_H_
#define HPU_PLUGIN_COMPILER_DYNAMIC_SHAPES_ROW_RULES_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "plugin/compiler/dynamic_shapes/row_shapes.h"
#include "xla/service/hlo.pb.h"

namespace hpu {

// One instruction in both lowerings, with its operands and its results (several for a tuple). Borrowed pointers.
struct RowInstruction {
  const xla::HloInstructionProto* proto = nullptr;
  const xla::HloInstructionProto* padded_proto = nullptr;
  std::vector<RowArray> operands;
  std::vector<RowArray> results;
};

// Checks an instruction with rows in an operand or result. Returns OK only if, in both lowerings, row i of each result
// depends only on row i of the operands and on values without rows. Otherwise fails with FAILED_PRECONDITION; the error
// describes how the instruction uses rows. Refuses unknown instructions. Called computations are checked separately.
absl::Status CheckRowRule(const RowInstruction& instruction);

// Fails with FAILED_PRECONDITION for instructions that draw random numbers or have side effects, even without rows.
absl::Status CheckPure(const xla::HloInstructionProto& proto);

// Whether the instruction only passes values to or from tuples and computations. The computations' instructions are
// checked separately.
bool IsStructural(absl::string_view opcode);

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_DYNAMIC_SHAPES_ROW_RULES_H_
