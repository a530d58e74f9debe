#include "plugin/backends/emulator/hlo_passes/row_window_pass.h"

#include <cstdint>
#include <optional>

#include "plugin/backends/common/hlo/instructions.h"
#include "plugin/backends/emulator/kernels/row_windows.h"
#include "xla/shape_util.h"
#include "xla/window_util.h"

namespace hpu::emulator {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// With fewer sums per row, XLA's loops are as fast.
constexpr int64_t kMinWindowColumns = 8;

std::optional<RowWindows> DescribeRowWindow(const xla::Window& window, const xla::Shape& input,
                                            const xla::Shape& output) {
  const int64_t last = input.dimensions_size() - 1;
  for (int64_t i = 0; i < last; ++i) {
    if (!xla::window_util::IsTrivialWindowDimension(window.dimensions(i))) return std::nullopt;
  }
  const xla::WindowDimension& d = window.dimensions(last);
  if (d.size() == 1 || d.stride() != 1 || d.window_dilation() != 1 || d.base_dilation() != 1 || d.padding_low() < 0 ||
      d.padding_high() < 0 || output.dimensions(last) < kMinWindowColumns) {
    return std::nullopt;
  }
  RowWindows windows;
  windows.columns = input.dimensions(last);
  windows.rows = xla::ShapeUtil::ElementsIn(input) / windows.columns;
  windows.window = d.size();
  windows.before = d.padding_low();
  windows.after = d.padding_high();
  return windows;
}

absl::StatusOr<HloInstruction*> RowWindowKernel(HloInstruction* reduction, KernelCalls* calls) {
  if (!hlo::IsFloat32Array(reduction->shape()) || !hlo::IsFloat32Array(reduction->operand(0)->shape()) ||
      reduction->operand_count() != 2 || reduction->shape().dimensions_size() == 0 ||
      !hlo::Computes(reduction->to_apply(), HloOpcode::kAdd) || hlo::ScalarOf(reduction->mutable_operand(1)) != 0.0f) {
    return nullptr;
  }
  HloInstruction* x = hlo::SourceOf(reduction->mutable_operand(0));
  std::optional<RowWindows> kernel = DescribeRowWindow(reduction->window(), x->shape(), reduction->shape());
  if (!kernel.has_value()) return nullptr;
  kernel->squares = x->opcode() == HloOpcode::kMultiply && x->operand(0) == x->operand(1);
  return calls->Add(kernel->Spec(), {kernel->squares ? x->mutable_operand(0) : x}, reduction->shape());
}

}  // namespace

absl::Status UseRowWindowKernels(xla::HloModule* module, KernelCalls* calls) {
  return ReplaceAll(module, HloOpcode::kReduceWindow,
                    [calls](HloInstruction* reduction) { return RowWindowKernel(reduction, calls); });
}

}  // namespace hpu::emulator
