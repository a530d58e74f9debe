#include "plugin/compiler/dynamic_shapes/symbol_values.h"

#include "absl/algorithm/container.h"
#include "plugin/base/status_macros.h"
#include "plugin/compiler/dynamic_shapes/size_arithmetic.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_opcode.h"
#include "xla/literal.h"
#include "xla/literal_util.h"
#include "xla/shape_util.h"

namespace hpu {

using xla::HloInstruction;
using xla::HloOpcode;

namespace {

constexpr int64_t kMaxCombinations = 2048;  // of the values of symbols

}  // namespace

bool IsParameter(const HloInstruction& instruction, int64_t number) {
  return instruction.opcode() == HloOpcode::kParameter && instruction.parameter_number() == number &&
         instruction.parent()->IsEntryComputation();
}

const SymbolSet* SymbolDependencies::Of(const HloInstruction* value) {
  if (const auto known = found_.find(value); known != found_.end()) {
    return known->second.first ? &known->second.second : nullptr;
  }
  SymbolSet set;
  const bool depends_on_symbols_only = Collect(sources_->SourceOf(value), &set);
  const auto& entry = found_[value] = {depends_on_symbols_only, std::move(set)};
  return entry.first ? &entry.second : nullptr;
}

bool SymbolDependencies::Collect(const HloInstruction* source, SymbolSet* set) {
  if (IsParameter(*source, symbols_.number)) {
    for (size_t i = 0; i < symbols_.ranges.size(); ++i) set->insert(static_cast<int64_t>(i));
    return true;
  }
  if (!SizeArithmetic::Covers(*source)) return false;
  if (source->opcode() == HloOpcode::kSlice && IsParameter(*source->operand(0), symbols_.number)) {
    for (int64_t i = source->slice_starts(0); i < source->slice_limits(0); ++i) set->insert(i);
    return true;
  }
  return absl::c_all_of(source->operands(), [&](const HloInstruction* operand) {
    const SymbolSet* const of_operand = Of(operand);
    if (of_operand != nullptr) set->insert(of_operand->begin(), of_operand->end());
    return of_operand != nullptr;
  });
}

std::vector<std::vector<int64_t>> CombinationsOf(const SymbolSet& set, const std::vector<SizeRange>& ranges) {
  std::vector<int64_t> first;
  for (const SizeRange& range : ranges) first.push_back(range.min);
  std::vector<std::vector<int64_t>> combinations = {first};
  for (const int64_t symbol : set) {
    const int64_t count = ranges[symbol].max - ranges[symbol].min + 1;
    if (count * static_cast<int64_t>(combinations.size()) > kMaxCombinations) return {};
    std::vector<std::vector<int64_t>> more;
    for (const std::vector<int64_t>& combination : combinations) {
      for (int64_t i = 0; i < count; ++i) {
        more.push_back(combination);
        more.back()[symbol] += i;
      }
    }
    combinations = std::move(more);
  }
  return combinations;
}

absl::StatusOr<std::vector<std::vector<int64_t>>> Tabulate(absl::Span<const HloInstruction* const> values,
                                                           const std::vector<std::vector<int64_t>>& combinations,
                                                           SizeSources* sources) {
  const SizeArithmetic arithmetic(values, sources);
  std::vector<std::vector<int64_t>> table(values.size());
  for (const std::vector<int64_t>& symbols : combinations) {
    const std::vector<std::vector<int64_t>> inputs(arithmetic.inputs().size(), symbols);
    HPU_ASSIGN_OR_RETURN(xla::Literal results, arithmetic.Evaluate(inputs));
    const std::vector<xla::Literal> elements = results.DecomposeTuple();
    for (size_t i = 0; i < values.size(); ++i) {
      HPU_ASSIGN_OR_RETURN(const xla::Literal wide, elements[i].Convert(xla::S64));
      const absl::Span<const int64_t> numbers = wide.data<int64_t>();
      table[i].insert(table[i].end(), numbers.begin(), numbers.end());
    }
  }
  return table;
}

}  // namespace hpu
