// Calls of XLA whose signatures depend on the TensorFlow release. Each release defines them in plugin/compat/tf_*.
#ifndef HPU_PLUGIN_COMPAT_XLA_COMPAT_H_
#define HPU_PLUGIN_COMPAT_XLA_COMPAT_H_

#include <cstdint>
#include <memory>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "xla/hlo/analysis/hlo_alias_analysis.h"
#include "xla/hlo/analysis/hlo_dataflow_analysis.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/literal.h"
#include "xla/shape.h"
#include "xla/xla_data.pb.h"

namespace hpu::compat {

// FromProto of xla::Shape and xla::ProgramShape.
absl::StatusOr<xla::Shape> ShapeFromProto(const xla::ShapeProto& proto);
absl::StatusOr<xla::ProgramShape> ProgramShapeFromProto(const xla::ProgramShapeProto& proto);

// Lower bound of the InstructionId of instructions that are added to the computation after the call.
int64_t NextInstructionId(xla::HloComputation* computation);

// Number of an instruction, unique in its computation.
int64_t InstructionId(const xla::HloInstruction* instruction);

// HloAliasAnalysis::Run without rules of a backend.
absl::StatusOr<std::unique_ptr<xla::HloAliasAnalysis>> RunAliasAnalysis(const xla::HloModule* module);

// HloDataflowAnalysis::CanShareOperandBufferWithUser for whole arrays, without rules of a backend.
bool CanShareOperandBufferWithUser(const xla::HloDataflowAnalysis& dataflow, xla::HloInstruction* operand,
                                   xla::HloInstruction* user);

// HloEvaluator::Evaluate of an instruction, after its operands. Fails if it depends on a parameter.
absl::StatusOr<xla::Literal> EvaluateRecursively(const xla::HloInstruction* instruction);

// HloEvaluator::Evaluate of an instruction, with values of its operands.
absl::StatusOr<xla::Literal> EvaluateWithSubstitutions(
    const xla::HloInstruction* instruction,
    const absl::flat_hash_map<const xla::HloInstruction*, const xla::Literal*>& substitutions);

// Runs the HLO passes of XLA's compiler for the CPU.
absl::StatusOr<std::unique_ptr<xla::HloModule>> RunCpuHloPasses(std::unique_ptr<xla::HloModule> module);

}  // namespace hpu::compat

#endif  // HPU_PLUGIN_COMPAT_XLA_COMPAT_H_
