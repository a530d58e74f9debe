#include "plugin/backends/gaudi/lowerings/scalar_computations.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "plugin/backends/gaudi/plan/nodes.h"
#include "plugin/base/status_macros.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_opcode.h"

namespace hpu::gaudi {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// Whether the instruction's lowering accepts arrays instead of the scalars of its shape.
bool AcceptsArrays(const HloInstruction& instruction) {
  switch (instruction.opcode()) {
    case HloOpcode::kParameter:
    case HloOpcode::kConstant:
    case HloOpcode::kTuple:
    case HloOpcode::kGetTupleElement:
      return true;
    default:
      return instruction.IsElementwise() && instruction.shape().IsArray() && instruction.shape().dimensions_size() == 0;
  }
}

}  // namespace

absl::StatusOr<std::vector<TensorId>> ApplyToElements(Lowering& lowering, const HloInstruction& caller,
                                                      const xla::HloComputation& computation,
                                                      const std::vector<TensorId>& arguments) {
  PlanBuilder& builder = lowering.builder();
  for (const HloInstruction* instruction : computation.instructions()) {
    if (AcceptsArrays(*instruction)) continue;
    return absl::UnimplementedError(absl::StrCat("the computation '", computation.name(), "' contains ",
                                                 xla::HloOpcodeString(instruction->opcode()),
                                                 "; Gaudi supports only elementwise operations on scalars there"));
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    lowering.SetBroadcastable(*computation.parameter_instruction(static_cast<int64_t>(i)), arguments[i]);
  }
  HPU_RETURN_IF_ERROR(lowering.LowerComputation(computation));
  builder.set_node_name(caller.metadata().op_name());
  const HloInstruction* root = computation.root_instruction();
  std::vector<TensorId> results;
  if (root->shape().IsTuple()) {
    results = lowering.TupleValue(root);
  } else {
    HPU_ASSIGN_OR_RETURN(const TensorId result, lowering.Broadcastable(root));
    results = {result};
  }
  // A computation may return a constant.
  for (TensorId& result : results) {
    HPU_ASSIGN_OR_RETURN(result, Broadcast(builder, result, builder.sizes(arguments.front())));
  }
  return results;
}

absl::StatusOr<std::vector<TensorId>> ApplyToElements(Lowering& lowering, const HloInstruction& caller,
                                                      const std::vector<TensorId>& arguments) {
  return ApplyToElements(lowering, caller, *caller.to_apply(), arguments);
}

}  // namespace hpu::gaudi
