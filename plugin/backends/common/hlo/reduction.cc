#include "plugin/backends/common/hlo/reduction.h"

#include "absl/algorithm/container.h"
#include "plugin/backends/common/hlo/instructions.h"
#include "xla/comparison_util.h"
#include "xla/hlo/ir/hlo_computation.h"

namespace hpu::hlo {
namespace {

using xla::ComparisonDirection;
using xla::HloComputation;
using xla::HloInstruction;
using xla::HloOpcode;
using Ties = ArgReduction::Ties;

// Parameters of the computation: (value, position) so far, and (value, position) of the next element.
enum Parameter { kLeftValue, kLeftPosition, kRightValue, kRightPosition, kParameters };

bool Is(const HloInstruction* instruction, HloOpcode opcode, const HloComputation& computation, Parameter left,
        Parameter right) {
  return instruction->opcode() == opcode && instruction->operand(0) == computation.parameter_instruction(left) &&
         instruction->operand(1) == computation.parameter_instruction(right);
}

bool ComparesValues(const HloInstruction* compare, const HloComputation& computation, ComparisonDirection direction) {
  return Is(compare, HloOpcode::kCompare, computation, kLeftValue, kRightValue) &&
         compare->comparison_direction() == direction;
}

// Whether `select` keeps the left parameter if the values compare in this direction.
bool Selects(const HloInstruction* select, const HloComputation& computation, ComparisonDirection direction,
             Parameter left, Parameter right) {
  return select->opcode() == HloOpcode::kSelect && ComparesValues(select->operand(0), computation, direction) &&
         select->operand(1) == computation.parameter_instruction(left) &&
         select->operand(2) == computation.parameter_instruction(right);
}

// The ties of a computation of an extremum and its position; nullopt for other computations.
std::optional<Ties> TiesOf(const HloComputation& computation, ComparisonDirection direction) {
  const HloInstruction* const root = computation.root_instruction();
  if (computation.num_parameters() != kParameters || root->opcode() != HloOpcode::kTuple ||
      root->operand_count() != 2 || !Selects(root->operand(0), computation, direction, kLeftValue, kRightValue)) {
    return std::nullopt;
  }
  const HloInstruction* const position = root->operand(1);
  if (Selects(position, computation, direction, kLeftPosition, kRightPosition)) return Ties::kAnyEqual;
  const bool first = position->opcode() == HloOpcode::kSelect &&
                     ComparesValues(position->operand(0), computation, ComparisonDirection::kEq) &&
                     Is(position->operand(1), HloOpcode::kMinimum, computation, kLeftPosition, kRightPosition) &&
                     Selects(position->operand(2), computation, direction, kLeftPosition, kRightPosition);
  return first ? std::optional(Ties::kFirst) : std::nullopt;
}

}  // namespace

std::optional<Reduction> DescribeReduction(const HloInstruction* reduce) {
  if (reduce->opcode() != HloOpcode::kReduce || reduce->operand_count() != 2) return std::nullopt;
  const HloInstruction* const root = BinaryRoot(reduce->to_apply());
  if (root == nullptr) return std::nullopt;
  HloInstruction *const operand = reduce->operands()[0], *const initial = reduce->operands()[1];
  Reduction found{root->opcode(), operand, initial, IsIdentity(root->opcode(), initial), {}};
  found.dimensions.assign(reduce->dimensions().begin(), reduce->dimensions().end());
  absl::c_sort(found.dimensions);
  return found;
}

std::optional<ArgReduction> DescribeArgReduction(const HloInstruction* reduce) {
  if (reduce->opcode() != HloOpcode::kReduce || reduce->operand_count() != 4 || reduce->dimensions().size() != 1 ||
      !IsIota(reduce->operand(1), reduce->dimensions(0))) {
    return std::nullopt;
  }
  for (const bool minimum : {false, true}) {
    const ComparisonDirection direction = minimum ? ComparisonDirection::kLe : ComparisonDirection::kGe;
    const std::optional<Ties> ties = TiesOf(*reduce->to_apply(), direction);
    if (!ties.has_value()) continue;
    const HloOpcode function = minimum ? HloOpcode::kMinimum : HloOpcode::kMaximum;
    if (!IsIdentity(function, reduce->operand(2)) || !IsConstantOf(reduce->operand(3), 0)) return std::nullopt;
    return ArgReduction{minimum, *ties, reduce->dimensions(0), reduce->operands()[0]};
  }
  return std::nullopt;
}

}  // namespace hpu::hlo
