#include "plugin/compat/xla_compat.h"

#include <utility>

#include "plugin/base/status_macros.h"
#include "xla/hlo/analysis/alias_info.h"
#include "xla/hlo/evaluator/hlo_evaluator.h"
#include "xla/service/compiler.h"
#include "xla/service/platform_util.h"

namespace hpu::compat {
namespace {

// The analyses keep a pointer.
const xla::AliasInfo* NoAliasRules() {
  static const auto* info = new xla::AliasInfo;
  return info;
}

}  // namespace

absl::StatusOr<xla::Shape> ShapeFromProto(const xla::ShapeProto& proto) { return xla::Shape::FromProto(proto); }

absl::StatusOr<xla::ProgramShape> ProgramShapeFromProto(const xla::ProgramShapeProto& proto) {
  return xla::ProgramShape::FromProto(proto);
}

int64_t NextInstructionId(xla::HloComputation* computation) {
  return computation->next_unique_instruction_internal_id();
}

int64_t InstructionId(const xla::HloInstruction* instruction) { return instruction->local_id(); }

absl::StatusOr<std::unique_ptr<xla::HloAliasAnalysis>> RunAliasAnalysis(const xla::HloModule* module) {
  return xla::HloAliasAnalysis::Run(module, NoAliasRules());
}

bool CanShareOperandBufferWithUser(const xla::HloDataflowAnalysis& dataflow, xla::HloInstruction* operand,
                                   xla::HloInstruction* user) {
  return dataflow.CanShareOperandBufferWithUser(operand, {}, user, {}, NoAliasRules());
}

absl::StatusOr<xla::Literal> EvaluateRecursively(const xla::HloInstruction* instruction) {
  return xla::HloEvaluator().Evaluate(instruction, {}, /*recursively_evaluate_nonconstant_operands=*/true);
}

absl::StatusOr<xla::Literal> EvaluateWithSubstitutions(
    const xla::HloInstruction* instruction,
    const absl::flat_hash_map<const xla::HloInstruction*, const xla::Literal*>& substitutions) {
  return xla::HloEvaluator().Evaluate(instruction, {}, /*recursively_evaluate_nonconstant_operands=*/false,
                                      {substitutions.begin(), substitutions.end()});
}

absl::StatusOr<std::unique_ptr<xla::HloModule>> RunCpuHloPasses(std::unique_ptr<xla::HloModule> module) {
  HPU_ASSIGN_OR_RETURN(stream_executor::Platform * platform, xla::PlatformUtil::GetPlatform("Host"));
  HPU_ASSIGN_OR_RETURN(std::unique_ptr<xla::Compiler> compiler, xla::Compiler::GetForPlatform(platform->id()));
  return compiler->RunHloPasses(std::move(module), /*executor=*/nullptr, {});
}

}  // namespace hpu::compat
