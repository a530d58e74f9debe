// Lowering: an HLO program as a GraphPlan.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_LOWERING_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_LOWERING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "plugin/backends/gaudi/lowerings/instruction_counts.h"
#include "plugin/backends/gaudi/plan/graph_plan.h"
#include "plugin/backends/gaudi/plan/plan_builder.h"
#include "plugin/program/program_table.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::gaudi {

// The instruction in error texts: "add.5 (op {{node model/dense/BiasAdd}}), f32[4,2]". Instructions that passes add
// have no op; their text has the op of the nearest user or operand.
std::string Describe(const xla::HloInstruction& instruction);

// Values of HLO instructions as tensors of a plan. Lowerings of instructions (lowerings.h) read their operands' values
// and set their own. Not thread safe.
class Lowering {
 public:
  explicit Lowering(const PlanTarget& target) : builder_(target) {}

  PlanBuilder& builder() { return builder_; }

  // The tensor of an array, with the sizes of its shape.
  absl::StatusOr<TensorId> Value(const xla::HloInstruction* instruction);
  absl::StatusOr<TensorId> Operand(const xla::HloInstruction& instruction, int64_t index) {
    return Value(instruction.operand(index));
  }
  // Like Value, but a size may be 1 where the array's elements repeat: kernels broadcast their operands themselves.
  absl::StatusOr<TensorId> Broadcastable(const xla::HloInstruction* instruction);
  // The type that tensors of the instruction's array have.
  absl::StatusOr<TensorType> TypeOf(const xla::HloInstruction& instruction) const;

  // Sets the value of an array, or of each element of a tuple. Sizes are those of the shapes. With SetBroadcastable,
  // they may also be 1.
  void Set(const xla::HloInstruction& instruction, TensorId value);
  void SetBroadcastable(const xla::HloInstruction& instruction, TensorId value);
  void SetTuple(const xla::HloInstruction& instruction, std::vector<TensorId> values);
  const std::vector<TensorId>& TupleValue(const xla::HloInstruction* instruction) const;

  // Lowers all instructions of a computation except parameters, operands first. Errors name the instruction, its op in
  // the graph and its shape.
  absl::Status LowerComputation(const xla::HloComputation& computation);
  // Like LowerComputation, for a program: parameters become arguments. Continues after an instruction that cannot be
  // lowered, so that the Unimplemented error names one such instruction of each op (at most 50).
  absl::Status LowerEntry(const xla::HloComputation& entry);
  // The instructions that LowerEntry has lowered or refused, in its order, without parameters and moves of tuples.
  const std::vector<LoweredInstruction>& lowered() const { return lowered_; }

 private:
  // Sets the parameters of supported types. Then fails for the first parameter whose type the generation lacks, if any.
  absl::Status SetArguments(const xla::HloComputation& entry);
  // Whether all operands have values or are empty. An operand lacks its value if it, or one of its own operands, was
  // refused.
  bool HasOperands(const xla::HloInstruction& instruction) const;
  absl::Status LowerInstruction(const xla::HloInstruction& instruction);

  PlanBuilder builder_;
  std::vector<LoweredInstruction> lowered_;
  absl::flat_hash_map<const xla::HloInstruction*, std::vector<TensorId>> values_;
};

// Lowers a prepared module (hlo_preparation.h) whose table is `table`. Unimplemented if instructions cannot be lowered.
// The error names the instructions, their ops in TensorFlow's notation ({{node name}}), and what is missing. Adds the
// instructions to `counts`, unless it is null, even if some are refused.
absl::StatusOr<GraphPlan> LowerModule(const xla::HloModule& module, const ProgramTable& table, const PlanTarget& target,
                                      InstructionCounts* counts = nullptr);

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_LOWERING_H_
