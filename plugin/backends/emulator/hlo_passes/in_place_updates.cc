#include "plugin/backends/emulator/hlo_passes/in_place_updates.h"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "plugin/backends/emulator/hlo_passes/memory_reuse.h"
#include "plugin/base/status_macros.h"
#include "plugin/compat/xla_compat.h"
#include "xla/hlo/analysis/hlo_alias_analysis.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_input_output_alias_config.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/shape_util.h"

namespace hpu::emulator {
namespace {

using xla::HloComputation;
using xla::HloInstruction;
using xla::HloOpcode;

// A variable: the argument, XLA's copy of it, the instruction that computes its new value, and the readers of the copy.
struct Variable {
  HloInstruction* argument;
  HloInstruction* copy;
  HloInstruction* update;
  std::vector<HloInstruction*> readers;
};

// The variables that XLA copies.
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
        variables.push_back({argument, copy, root->mutable_operand(result[0]), {}});
      });
  return variables;
}

// The instructions that read the copy. Empty if the memory of the copy or of the variable also holds another value.
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

using Positions = absl::flat_hash_map<const HloInstruction*, int64_t>;

// An order of the computation's instructions that respects all dependencies, and in which updates follow their readers
// if possible.
Positions OrderOf(const HloComputation& computation, const std::vector<Variable>& variables) {
  struct Waiting {
    int64_t dependencies = 0;
    int64_t readers = 0;
    std::vector<const HloInstruction*> updates;  // updates that wait for this instruction, a reader
  };
  absl::flat_hash_map<const HloInstruction*, Waiting> waiting;
  std::vector<const HloInstruction*> ready, early;  // `early`: updates that could run, but still have readers
  for (const HloInstruction* instruction : computation.instructions()) {
    waiting[instruction].dependencies =
        instruction->unique_operands().size() + instruction->control_predecessors().size();
  }
  for (const Variable& variable : variables) {
    for (const HloInstruction* reader : variable.readers) {
      if (reader == variable.update) continue;
      ++waiting[variable.update].readers;
      waiting[reader].updates.push_back(variable.update);
    }
  }
  const auto add_if_ready = [&](const HloInstruction* instruction) {
    const Waiting& waits = waiting[instruction];
    if (waits.dependencies == 0) (waits.readers == 0 ? ready : early).push_back(instruction);
  };
  absl::c_for_each(computation.instructions(), add_if_ready);
  Positions positions;
  while (!ready.empty() || !early.empty()) {
    std::vector<const HloInstruction*>& next = ready.empty() ? early : ready;
    const HloInstruction* instruction = next.back();
    next.pop_back();
    if (!positions.emplace(instruction, positions.size()).second) continue;
    const auto finish = [&](const HloInstruction* successor) {
      --waiting[successor].dependencies;
      add_if_ready(successor);
    };
    absl::c_for_each(instruction->users(), finish);
    absl::c_for_each(instruction->control_successors(), finish);
    for (const HloInstruction* update : waiting[instruction].updates) {
      --waiting[update].readers;
      if (waiting[update].readers == 0) add_if_ready(update);
    }
  }
  return positions;
}

// Makes the readers run before the update. Returns false and changes nothing if a reader follows the update in
// `positions`.
absl::StatusOr<bool> Order(const Variable& variable, const Positions& positions) {
  const int64_t updated = positions.at(variable.update);
  const auto comes_late = [&](HloInstruction* reader) { return positions.at(reader) > updated; };
  if (absl::c_any_of(variable.readers, comes_late)) return false;
  for (HloInstruction* reader : variable.readers) {
    if (reader != variable.update) HPU_RETURN_IF_ERROR(reader->AddControlDependencyTo(variable.update));
  }
  return true;
}

}  // namespace

absl::Status UpdateInPlace(xla::HloModule* module) {
  const std::vector<Variable> copied = CopiedVariables(*module);
  if (copied.empty()) return absl::OkStatus();
  HPU_ASSIGN_OR_RETURN(const std::unique_ptr<xla::HloAliasAnalysis> aliases, compat::RunAliasAnalysis(module));
  std::vector<Variable> variables;
  for (Variable variable : copied) {
    variable.readers = ReadersOf(variable, *aliases);
    if (variable.readers.empty()) continue;
    if (absl::c_linear_search(variable.readers, variable.update) &&
        !MayOverwrite(aliases->dataflow_analysis(), variable.copy, variable.update)) {
      continue;
    }
    variables.push_back(std::move(variable));
  }
  // All dependencies follow one order, so they form no cycle.
  const Positions positions = OrderOf(*module->entry_computation(), variables);
  std::vector<HloInstruction*> unneeded;
  for (const Variable& variable : variables) {
    HPU_ASSIGN_OR_RETURN(const bool ordered, Order(variable, positions));
    if (ordered) unneeded.push_back(variable.copy);
  }
  for (HloInstruction* copy : unneeded) {
    HPU_RETURN_IF_ERROR(module->entry_computation()->ReplaceInstruction(copy, copy->mutable_operand(0)));
  }
  return absl::OkStatus();
}

}  // namespace hpu::emulator
