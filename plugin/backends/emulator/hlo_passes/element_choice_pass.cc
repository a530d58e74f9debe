#include "plugin/backends/emulator/hlo_passes/element_choice_pass.h"

#include <cstdint>
#include <limits>
#include <utility>

#include "plugin/backends/common/hlo/instructions.h"
#include "plugin/backends/emulator/hlo_passes/kernel_calls.h"
#include "plugin/base/status_macros.h"
#include "xla/comparison_util.h"
#include "xla/hlo/ir/hlo_casting_utils.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/literal_util.h"
#include "xla/service/hlo_creation_utils.h"
#include "xla/shape_util.h"

namespace hpu::emulator {
namespace {

using xla::ComparisonDirection;
using xla::HloInstruction;
using xla::HloOpcode;

// The column index of each row, if `is_it` compares an iota over the columns with column indices; else null.
HloInstruction* ColumnsOf(HloInstruction* is_it) {
  if (is_it->opcode() != HloOpcode::kCompare || is_it->comparison_direction() != ComparisonDirection::kEq) {
    return nullptr;
  }
  HloInstruction *iota = is_it->mutable_operand(0), *wide = is_it->mutable_operand(1);
  if (iota->opcode() != HloOpcode::kIota) std::swap(iota, wide);
  const xla::PrimitiveType type = wide->shape().element_type();
  const bool is = iota->opcode() == HloOpcode::kIota &&
                  xla::Cast<xla::HloIotaInstruction>(iota)->iota_dimension() == 1 &&
                  wide->opcode() == HloOpcode::kBroadcast && wide->dimensions().size() == 1 &&
                  wide->dimensions(0) == 0 && (type == xla::S32 || type == xla::S64);
  return is ? wide->mutable_operand(0) : nullptr;
}

// The identity of maximum or minimum; for other functions NaN, which equals no number.
float IdentityOf(const xla::HloComputation* function) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  if (hlo::Computes(function, HloOpcode::kMaximum)) return -kInfinity;
  if (hlo::Computes(function, HloOpcode::kMinimum)) return kInfinity;
  return std::numeric_limits<float>::quiet_NaN();
}

absl::StatusOr<HloInstruction*> InRange(HloInstruction* numbers, int64_t end) {
  xla::HloComputation* computation = numbers->parent();
  const auto bound = [&](int64_t value) {
    HloInstruction* number = computation->AddInstruction(HloInstruction::CreateConstant(
        xla::LiteralUtil::CreateR0<int64_t>(value).Convert(numbers->shape().element_type()).value()));
    return xla::MakeBroadcastHlo(number, {}, numbers->shape().dimensions());
  };
  HPU_ASSIGN_OR_RETURN(HloInstruction * above, xla::MakeCompareHlo(ComparisonDirection::kGe, numbers, bound(0)));
  HPU_ASSIGN_OR_RETURN(HloInstruction * below, xla::MakeCompareHlo(ComparisonDirection::kLt, numbers, bound(end)));
  return xla::MakeBinaryHlo(HloOpcode::kAnd, above, below);
}

// Gathers the element at each row's column; out-of-range columns are clamped.
HloInstruction* ElementAt(HloInstruction* matrix, HloInstruction* columns) {
  xla::HloComputation* computation = matrix->parent();
  const int64_t rows = columns->shape().dimensions(0);
  const xla::Shape column = xla::ShapeUtil::MakeShape(columns->shape().element_type(), {rows, 1});
  const xla::Shape pair = xla::ShapeUtil::MakeShape(columns->shape().element_type(), {rows, 2});
  HloInstruction* row_numbers = computation->AddInstruction(HloInstruction::CreateIota(column, 0));
  HloInstruction* column_numbers = computation->AddInstruction(HloInstruction::CreateReshape(column, columns));
  HloInstruction* indices =
      computation->AddInstruction(HloInstruction::CreateConcatenate(pair, {row_numbers, column_numbers}, 1));
  const xla::GatherDimensionNumbers numbers =
      xla::HloGatherInstruction::MakeGatherDimNumbers({}, /*collapsed_slice_dims=*/{0, 1}, /*start_index_map=*/{0, 1},
                                                      /*index_vector_dim=*/1);
  const xla::Shape shape = xla::ShapeUtil::MakeShape(matrix->shape().element_type(), {rows});
  return computation->AddInstruction(
      HloInstruction::CreateGather(shape, matrix, indices, numbers, /*slice_sizes=*/{1, 1}, false));
}

absl::StatusOr<HloInstruction*> GatherOf(HloInstruction* reduce) {
  if (reduce->operand_count() != 2 || !reduce->shape().IsArray() || reduce->shape().dimensions_size() != 1 ||
      reduce->dimensions() != std::vector<int64_t>{1} || reduce->operand(0)->opcode() != HloOpcode::kSelect) {
    return nullptr;
  }
  HloInstruction* select = reduce->mutable_operand(0);
  HloInstruction *columns = ColumnsOf(select->mutable_operand(0)), *matrix = select->mutable_operand(1);
  HloInstruction* others = select->mutable_operand(2);
  const float identity = IdentityOf(reduce->to_apply());
  if (columns == nullptr || !hlo::IsFloatArray(matrix->shape()) ||
      hlo::ScalarOf(reduce->mutable_operand(1)) != identity || others->opcode() != HloOpcode::kBroadcast ||
      hlo::ScalarOf(others->mutable_operand(0)) != identity) {
    return nullptr;
  }
  HPU_ASSIGN_OR_RETURN(HloInstruction * is_in, InRange(columns, matrix->shape().dimensions(1)));
  HloInstruction* outside = xla::MakeBroadcastHlo(others->mutable_operand(0), {}, reduce->shape().dimensions());
  return xla::MakeSelectHlo(is_in, ElementAt(matrix, columns), outside);
}

}  // namespace

absl::Status ReadChosenElements(xla::HloModule* module) { return ReplaceAll(module, HloOpcode::kReduce, GatherOf); }

}  // namespace hpu::emulator
