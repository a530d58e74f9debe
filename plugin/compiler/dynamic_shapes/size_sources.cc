#include "plugin/compiler/dynamic_shapes/size_sources.h"

#include <iterator>
#include <vector>

#include "absl/algorithm/container.h"
#include "plugin/compiler/dynamic_shapes/size_arithmetic.h"
#include "plugin/compiler/dynamic_shapes/symbol_values.h"
#include "xla/hlo/ir/hlo_opcode.h"

namespace hpu {

using xla::HloComputation;
using xla::HloInstruction;
using xla::HloOpcode;

SizeSources::SizeSources(const xla::HloModule& module, const SizeParameter& symbols) {
  for (const HloComputation* computation : module.computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      for (const HloComputation* called : instruction->called_computations()) {
        const auto [caller, is_new] = callers_.try_emplace(called, instruction);
        if (!is_new && caller->second != instruction) caller->second = nullptr;
      }
      if (instruction->opcode() != HloOpcode::kWhile) continue;
      for (int64_t i = 0; i < instruction->shape().tuple_shapes_size(); ++i) {
        if (SizeArithmetic::IsSizes(instruction->shape().tuple_shapes(static_cast<int>(i)))) {
          kept_.insert({instruction, i});
        }
      }
    }
  }
  for (bool changed = true; changed;) {
    std::vector<Element> lost;
    absl::c_copy_if(kept_, std::back_inserter(lost), [&](const Element& element) { return !Keeps(element, symbols); });
    for (const Element& element : lost) kept_.erase(element);
    changed = !lost.empty();
  }
}

bool SizeSources::Keeps(const Element& element, const SizeParameter& symbols) {
  const auto& [loop, index] = element;
  const HloInstruction* const results = loop->while_body()->root_instruction();
  const HloInstruction* const first = ElementOf(loop->operand(0), index);
  const HloInstruction* const next = ElementOf(results, index);
  if (first == nullptr || next == nullptr || first == next) return first != nullptr && first == next;
  SymbolDependencies dependencies(symbols, this);
  const SymbolSet* const of_first = dependencies.Of(first);
  const SymbolSet* const of_next = dependencies.Of(next);
  if (of_first == nullptr || of_next == nullptr) return false;
  SymbolSet both = *of_first;
  both.insert(of_next->begin(), of_next->end());
  const std::vector<std::vector<int64_t>> combinations = CombinationsOf(both, symbols.ranges);
  if (combinations.empty()) return false;
  const auto table = Tabulate({first, next}, combinations, this);
  return table.ok() && (*table)[0] == (*table)[1];
}

const HloInstruction* SizeSources::SourceOf(const HloInstruction* value) {
  while (value->opcode() == HloOpcode::kCopy) value = value->operand(0);
  if (value->opcode() != HloOpcode::kGetTupleElement) return value;
  const HloInstruction* const element = ElementOf(value->operand(0), value->tuple_index());
  return element == nullptr ? value : element;
}

const HloInstruction* SizeSources::ElementOf(const HloInstruction* tuple, int64_t index) {
  switch (tuple->opcode()) {
    case HloOpcode::kTuple:
      return SourceOf(tuple->operand(index));
    case HloOpcode::kWhile:
      return kept_.contains({tuple, index}) ? ElementOf(tuple->operand(0), index) : nullptr;
    case HloOpcode::kConditional:
      return ElementOfBranches(*tuple, index);
    case HloOpcode::kParameter:
      return ElementOfParameter(*tuple, index);
    case HloOpcode::kGetTupleElement: {
      const HloInstruction* const source = SourceOf(tuple);
      return source == tuple ? nullptr : ElementOf(source, index);
    }
    default:
      return nullptr;
  }
}

const HloInstruction* SizeSources::ElementOfParameter(const HloInstruction& parameter, int64_t index) {
  const auto found = callers_.find(parameter.parent());
  const HloInstruction* const caller = found == callers_.end() ? nullptr : found->second;
  if (caller == nullptr) return nullptr;
  if (caller->opcode() == HloOpcode::kWhile) {
    return kept_.contains({caller, index}) ? ElementOf(caller->operand(0), index) : nullptr;
  }
  if (caller->opcode() != HloOpcode::kConditional) return nullptr;
  for (int branch = 0; branch < caller->branch_count(); ++branch) {
    if (caller->branch_computation(branch) != parameter.parent()) continue;
    return ElementOf(caller->operand(branch + 1), index);
  }
  return nullptr;
}

// All branches must return one value that comes from outside.
const HloInstruction* SizeSources::ElementOfBranches(const HloInstruction& branches, int64_t index) {
  const HloInstruction* common = nullptr;
  for (int i = 0; i < branches.branch_count(); ++i) {
    const HloInstruction* const root = branches.branch_computation(i)->root_instruction();
    const HloInstruction* const element = ElementOf(root, index);
    if (element == nullptr || (common != nullptr && element != common)) return nullptr;
    common = element;
  }
  return common->parent() == branches.parent() ? common : nullptr;
}

}  // namespace hpu
