// RowRules: which instructions of a program keep rows apart.
#ifndef HPU_PLUGIN_COMPILER_DYNAMIC_SHAPES_ROW_RULES_H_
#define HPU_PLUGIN_COMPILER_DYNAMIC_SHAPES_ROW_RULES_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "plugin/compiler/dynamic_shapes/row_shapes.h"
#include "xla/service/hlo.pb.h"

namespace hpu {

// One instruction in both lowerings, with its operands and results (several where it returns a tuple). Borrowed
// pointers.
struct RowInstruction {
  const xla::HloInstructionProto* proto = nullptr;
  const xla::HloInstructionProto* padded_proto = nullptr;
  std::vector<RowArray> operands;
  std::vector<RowArray> results;
};

// Whether row i of each result is made of row i of the operands and of what has no rows, in the same way in both
// lowerings. For instructions with rows in an operand or a result; their computations are checked apart.
// FailedPrecondition says what they do to rows; all that is not known to keep rows apart is refused.
absl::Status CheckRowRule(const RowInstruction& instruction);

// FailedPrecondition for random and effectful instructions, which are refused even without rows.
absl::Status CheckPure(const xla::HloInstructionProto& proto);

// Whether the instruction hands values on from or to computations and tuples, whose own instructions are checked.
bool IsStructural(absl::string_view opcode);

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_DYNAMIC_SHAPES_ROW_RULES_H_
