#include "plugin/compiler/dynamic_shapes/size_simplification.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "plugin/base/status_macros.h"
#include "plugin/compiler/dynamic_shapes/size_arithmetic.h"
#include "plugin/compiler/dynamic_shapes/size_sources.h"
#include "plugin/compiler/dynamic_shapes/symbol_values.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_opcode.h"
#include "xla/hlo/transforms/simplifiers/hlo_dce.h"
#include "xla/literal.h"
#include "xla/shape_util.h"

namespace hpu {
namespace {

using xla::HloComputation;
using xla::HloInstruction;
using xla::HloOpcode;

bool IsCandidate(const HloInstruction& instruction) {
  if (!instruction.shape().IsArray() || instruction.shape().dimensions_size() != 0) return false;
  const xla::PrimitiveType type = instruction.shape().element_type();
  return (type == xla::PRED || type == xla::S32 || type == xla::S64) &&
         (SizeArithmetic::Covers(instruction) || instruction.opcode() == HloOpcode::kGetTupleElement) &&
         instruction.opcode() != HloOpcode::kConstant;
}

xla::Literal MakeScalar(xla::PrimitiveType type, int64_t value) {
  xla::Literal literal(xla::ShapeUtil::MakeShape(type, {}));
  if (type == xla::PRED) literal.Set<bool>({}, value != 0);
  if (type == xla::S32) literal.Set<int32_t>({}, static_cast<int32_t>(value));
  if (type == xla::S64) literal.Set<int64_t>({}, value);
  return literal;
}

// The scalars of all computations, in an order in which operands come first, by the symbols on which they depend.
std::map<SymbolSet, std::vector<HloInstruction*>> FindScalars(xla::HloModule* module,
                                                              SymbolDependencies* dependencies) {
  std::map<SymbolSet, std::vector<HloInstruction*>> scalars;
  for (HloComputation* computation : module->MakeComputationPostOrder()) {
    for (HloInstruction* instruction : computation->MakeInstructionPostOrder()) {
      if (!IsCandidate(*instruction)) continue;
      const SymbolSet* const set = dependencies->Of(instruction);
      if (set != nullptr) scalars[*set].push_back(instruction);
    }
  }
  return scalars;
}

// What replaces a scalar: a constant if `constant` is set, otherwise an equal scalar of the same computation.
struct Replacement {
  HloInstruction* scalar = nullptr;
  HloInstruction* equal = nullptr;
  int64_t constant = 0;
};

// All replacements are found before the program changes.
absl::StatusOr<std::vector<Replacement>> FindReplacements(xla::HloModule* module, const SizeParameter& symbols) {
  SizeSources sources(*module, symbols);
  SymbolDependencies dependencies(symbols, &sources);
  std::vector<Replacement> replacements;
  for (const auto& [set, scalars] : FindScalars(module, &dependencies)) {
    const std::vector<std::vector<int64_t>> combinations = CombinationsOf(set, symbols.ranges);
    if (combinations.empty()) continue;
    HPU_ASSIGN_OR_RETURN(
        const std::vector<std::vector<int64_t>> table,
        Tabulate(std::vector<const HloInstruction*>(scalars.begin(), scalars.end()), combinations, &sources));
    std::map<std::pair<const HloComputation*, std::pair<int, std::vector<int64_t>>>, HloInstruction*> known;
    for (size_t i = 0; i < scalars.size(); ++i) {
      HloInstruction* const scalar = scalars[i];
      const bool is_constant = absl::c_all_of(table[i], [&](int64_t value) { return value == table[i][0]; });
      if (is_constant) {
        replacements.push_back({scalar, nullptr, table[i][0]});
        continue;
      }
      const auto [equal, is_new] =
          known.try_emplace({scalar->parent(), {scalar->shape().element_type(), table[i]}}, scalar);
      if (!is_new) replacements.push_back({scalar, equal->second, 0});
    }
  }
  return replacements;
}

bool IsConstant(const HloInstruction* predicate, bool* value) {
  while (predicate->opcode() == HloOpcode::kBroadcast) predicate = predicate->operand(0);
  if (predicate->opcode() != HloOpcode::kConstant || predicate->shape().dimensions_size() != 0) return false;
  *value = predicate->literal().Get<bool>({});
  return true;
}

absl::Status RemoveConstantSelects(xla::HloModule* module) {
  for (HloComputation* computation : module->computations()) {
    for (HloInstruction* select : computation->MakeInstructionPostOrder()) {
      bool value = false;
      if (select->opcode() != HloOpcode::kSelect || !IsConstant(select->operand(0), &value)) continue;
      HPU_RETURN_IF_ERROR(select->ReplaceAllUsesWith(select->mutable_operand(value ? 1 : 2)));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status SimplifySizes(xla::HloModule* module, const SizeParameter& symbols) {
  if (symbols.number < 0) return absl::OkStatus();
  HPU_ASSIGN_OR_RETURN(const std::vector<Replacement> replacements, FindReplacements(module, symbols));
  for (const Replacement& replacement : replacements) {
    HloInstruction* equal = replacement.equal;
    if (equal == nullptr) {
      equal = replacement.scalar->parent()->AddInstruction(
          HloInstruction::CreateConstant(MakeScalar(replacement.scalar->shape().element_type(), replacement.constant)));
    }
    HPU_RETURN_IF_ERROR(replacement.scalar->ReplaceAllUsesWith(equal));
  }
  HPU_RETURN_IF_ERROR(RemoveConstantSelects(module));
  return xla::HloDCE().Run(module).status();
}

}  // namespace hpu
