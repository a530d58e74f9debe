#include "plugin/backends/emulator/hlo_passes/in_place_updates.h"

#include <memory>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "plugin/hal/status_macros.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_input_output_alias_config.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/service/hlo_alias_analysis.h"
#include "xla/shape_util.h"

namespace hpu::emulator {
namespace {

using xla::HloComputation;
using xla::HloInstruction;
using xla::HloOpcode;

// A variable: the argument, XLA's copy of it, which all readers use, and what makes its new value.
struct Variable {
  HloInstruction* argument;
  HloInstruction* copy;
  HloInstruction* update;
};

// True if `user` has read an element of `operand` before it writes that of its result, and reads it only then.
bool MayOverwrite(const xla::HloDataflowAnalysis& dataflow, HloInstruction* operand, HloInstruction* user) {
  if (user->OperandIndices(operand).size() != 1) return false;
  if (user->opcode() != HloOpcode::kCall) return dataflow.CanShareOperandBufferWithUser(operand, {}, user, {});
  // A loop that is split over threads.
  HloInstruction* root = user->to_apply()->root_instruction();
  HloInstruction* parameter = user->to_apply()->parameter_instruction(user->operand_index(operand));
  return absl::c_all_of(parameter->users(), [root](const HloInstruction* inner) { return inner == root; }) &&
         MayOverwrite(dataflow, parameter, root);
}

// The variables of which XLA made a copy.
std::vector<Variable> CopiedVariables(const xla::HloModule& module) {
  std::vector<Variable> variables;
  HloComputation* entry = module.entry_computation();
  HloInstruction* root = entry->root_instruction();
  if (root->opcode() != HloOpcode::kTuple) return variables;
  module.input_output_alias_config().ForEachAlias(
      [&](const xla::ShapeIndex& result, const xla::HloInputOutputAliasConfig::Alias& alias) {
        HloInstruction* argument = entry->parameter_instruction(alias.parameter_number);
        if (result.size() != 1 || !alias.parameter_index.empty() || argument->user_count() != 1) return;
        HloInstruction* copy = argument->users()[0];
        if (copy->opcode() != HloOpcode::kCopy || copy->HasControlDependencies() ||
            !xla::ShapeUtil::Equal(copy->shape(), argument->shape()))
          return;
        variables.push_back({argument, copy, root->mutable_operand(result[0])});
      });
  return variables;
}

// The instructions that read the copy; nothing if its memory, or the variable's, has yet another value.
std::vector<HloInstruction*> ReadersOf(const Variable& variable, const xla::HloAliasAnalysis& aliases) {
  const xla::HloBuffer& copied = aliases.GetUniqueBufferAt(variable.copy);
  const xla::HloBuffer& kept = aliases.GetUniqueBufferAt(variable.argument);
  if (copied.values().size() != 1 || copied.values()[0]->live_out_of_module() ||
      kept != aliases.GetUniqueBufferAt(variable.update)) {
    return {};
  }
  const HloComputation* entry = variable.copy->parent();
  for (const xla::HloValue* value : kept.values()) {
    const HloInstruction* made = value->instruction();
    const bool in_update =
        variable.update->opcode() == HloOpcode::kCall && made->parent() == variable.update->to_apply();
    if (made != variable.argument && made != variable.update && !in_update) return {};
  }
  std::vector<HloInstruction*> readers;
  for (const xla::HloUse& use : copied.values()[0]->GetUses()) {
    if (use.instruction->parent() == entry) readers.push_back(use.instruction);
  }
  return readers;
}

// The instruction and all that runs after it whatever the schedule.
absl::flat_hash_set<const HloInstruction*> After(const HloInstruction* instruction) {
  absl::flat_hash_set<const HloInstruction*> after = {instruction};
  std::vector<const HloInstruction*> unvisited = {instruction};
  while (!unvisited.empty()) {
    const HloInstruction* visited = unvisited.back();
    unvisited.pop_back();
    const auto visit = [&](const HloInstruction* next) {
      if (after.insert(next).second) unvisited.push_back(next);
    };
    absl::c_for_each(visited->users(), visit);
    absl::c_for_each(visited->control_successors(), visit);
  }
  return after;
}

// Puts the readers before the update. Changes nothing if one of them needs it.
absl::StatusOr<bool> Order(const std::vector<HloInstruction*>& readers, HloInstruction* update) {
  const auto after = After(update);
  const auto comes_late = [&](HloInstruction* reader) { return reader != update && after.contains(reader); };
  if (absl::c_any_of(readers, comes_late)) return false;
  for (HloInstruction* reader : readers) {
    if (reader != update) HPU_RETURN_IF_ERROR(reader->AddControlDependencyTo(update));
  }
  return true;
}

}  // namespace

absl::Status UpdateInPlace(xla::HloModule* module) {
  const std::vector<Variable> variables = CopiedVariables(*module);
  if (variables.empty()) return absl::OkStatus();
  HPU_ASSIGN_OR_RETURN(const std::unique_ptr<xla::HloAliasAnalysis> aliases, xla::HloAliasAnalysis::Run(module));
  std::vector<HloInstruction*> unneeded;
  for (const Variable& variable : variables) {
    const std::vector<HloInstruction*> readers = ReadersOf(variable, *aliases);
    if (readers.empty()) continue;
    if (absl::c_linear_search(readers, variable.update) &&
        !MayOverwrite(aliases->dataflow_analysis(), variable.copy, variable.update)) {
      continue;
    }
    HPU_ASSIGN_OR_RETURN(const bool ordered, Order(readers, variable.update));
    if (ordered) unneeded.push_back(variable.copy);
  }
  // Not before: the analysis is of the program as it was.
  for (HloInstruction* copy : unneeded) {
    HPU_RETURN_IF_ERROR(module->entry_computation()->ReplaceInstruction(copy, copy->mutable_operand(0)));
  }
  return absl::OkStatus();
}

}  // namespace hpu::emulator
