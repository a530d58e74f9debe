#include "plugin/backends/emulator/hlo_passes/cumulative_pass.h"

#include <cstdint>
#include <optional>

#include "plugin/backends/common/hlo/cumulative.h"
#include "plugin/backends/emulator/kernels/cumulative.h"
#include "plugin/base/status_macros.h"
#include "xla/service/hlo_creation_utils.h"
#include "xla/shape_util.h"

namespace hpu::emulator {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

Cumulative::Function FunctionOf(const hlo::Cumulative& found) {
  switch (found.function) {
    case hlo::Cumulative::Function::kAdd:
      return Cumulative::Function::kAdd;
    case hlo::Cumulative::Function::kMultiply:
      return Cumulative::Function::kMultiply;
    case hlo::Cumulative::Function::kLogAddExp:
      return Cumulative::Function::kLogAddExp;
  }
  return Cumulative::Function::kAdd;
}

absl::StatusOr<HloInstruction*> CumulativeKernel(HloInstruction* reduction, KernelCalls* calls) {
  const std::optional<hlo::Cumulative> found = hlo::DescribeCumulative(reduction);
  if (!found.has_value()) return nullptr;
  const xla::Shape& shape = found->operand->shape();
  const std::optional<NumberType> type = NumberTypeOf(shape.element_type());
  if (!type.has_value()) return nullptr;
  Cumulative kernel;
  kernel.function = FunctionOf(*found);
  kernel.type = *type;
  kernel.reverse = found->reverse;
  const bool is_integer = *type == NumberType::kInt32 || *type == NumberType::kInt64;
  if (kernel.function == Cumulative::Function::kLogAddExp && is_integer) return nullptr;
  const std::optional<Columns> sizes = ColumnSizes(shape, {found->dimension});
  if (!sizes.has_value()) return nullptr;
  kernel.outer = sizes->outer;
  kernel.size = sizes->rows;
  kernel.inner = sizes->columns;
  HPU_ASSIGN_OR_RETURN(HloInstruction * result, calls->Add(kernel.Spec(), {found->operand}, shape));
  if (found->extent == hlo::Cumulative::Extent::kInclusive) return result;
  xla::PaddingConfig padding = xla::MakeNoPaddingConfig(shape.dimensions_size());
  xla::PaddingConfig::PaddingConfigDimension* edge = padding.mutable_dimensions(found->dimension);
  found->reverse ? edge->set_edge_padding_high(1) : edge->set_edge_padding_low(1);
  return xla::MakePadHlo(result, reduction->mutable_operand(1), padding);
}

}  // namespace

absl::Status UseCumulativeKernels(xla::HloModule* module, KernelCalls* calls) {
  return ReplaceAll(module, HloOpcode::kReduceWindow,
                    [calls](HloInstruction* reduction) { return CumulativeKernel(reduction, calls); });
}

}  // namespace hpu::emulator
