#include "plugin/backends/common/hlo/window_reduction.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "plugin/backends/common/hlo/instructions.h"

namespace hpu::hlo {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

void SetPadding(WindowDimension* d) {
  const int64_t needed = (d->output - 1) * d->stride + (d->window - 1) * d->dilation + 1;
  d->pad_high = needed - ((d->input - 1) * d->base_dilation + 1) - d->pad_low;
}

bool IsWindowReduction(const HloInstruction* instruction) {
  return instruction->opcode() == HloOpcode::kReduceWindow && instruction->shape().IsArray() &&
         instruction->operand_count() == 2;
}

// If `pad` only crops a reduce-window without other users, returns the reduce-window and appends the first kept index
// of each dimension to `begin`. Else returns null.
const HloInstruction* Cropped(const HloInstruction* pad, std::vector<int64_t>* begin) {
  if (pad->opcode() != HloOpcode::kPad) return nullptr;
  const HloInstruction* const reduction = SourceOf(pad->operand(0));
  if (!IsWindowReduction(reduction) || reduction->user_count() != 1) return nullptr;
  for (const auto& edge : pad->padding_config().dimensions()) {
    if (edge.edge_padding_low() > 0 || edge.edge_padding_high() > 0 || edge.interior_padding() != 0) return nullptr;
    begin->push_back(-edge.edge_padding_low());
  }
  return reduction;
}

// If `operand` is a pad that crops nothing and pads with the function's identity, and `dimensions` have no base
// dilation: returns the unpadded array and adds the padding to `dimensions`. Else returns `operand`.
HloInstruction* WithoutPadding(HloInstruction* operand, HloOpcode function, std::vector<WindowDimension>* dimensions) {
  HloInstruction* const pad = SourceOf(operand);
  if (pad->opcode() != HloOpcode::kPad || !IsIdentity(function, pad->operand(1))) return operand;
  for (size_t i = 0; i < dimensions->size(); ++i) {
    const auto& edge = pad->padding_config().dimensions(i);
    if ((*dimensions)[i].base_dilation != 1 || edge.edge_padding_low() < 0 || edge.edge_padding_high() < 0) {
      return operand;
    }
  }
  for (size_t i = 0; i < dimensions->size(); ++i) {
    const auto& edge = pad->padding_config().dimensions(i);
    WindowDimension& d = (*dimensions)[i];
    d.input = pad->operand(0)->shape().dimensions(i);
    d.base_dilation = edge.interior_padding() + 1;
    d.pad_low += edge.edge_padding_low();
  }
  return pad->mutable_operand(0);
}

}  // namespace

bool WindowDimension::IsTrivial() const {
  return window == 1 && stride == 1 && base_dilation == 1 && pad_low == 0 && input == output;
}

bool WindowDimension::operator==(const WindowDimension& other) const {
  return input == other.input && output == other.output && window == other.window && stride == other.stride &&
         dilation == other.dilation && base_dilation == other.base_dilation && pad_low == other.pad_low &&
         pad_high == other.pad_high;
}

std::vector<WindowDimension> WindowDimensionsOf(const xla::Window& window, const xla::Shape& input,
                                                const xla::Shape& output) {
  std::vector<WindowDimension> dimensions;
  for (int64_t i = 0; i < input.dimensions_size(); ++i) {
    const xla::WindowDimension& w = window.dimensions(i);
    WindowDimension d{input.dimensions(i), output.dimensions(i), w.size(),       w.stride(),
                      w.window_dilation(), w.base_dilation(),    w.padding_low()};
    SetPadding(&d);
    dimensions.push_back(d);
  }
  return dimensions;
}

std::optional<WindowReduction> DescribeWindowReduction(const HloInstruction* instruction) {
  std::vector<int64_t> begin(instruction->shape().IsArray() ? instruction->shape().dimensions_size() : 0, 0);
  const HloInstruction* reduction = instruction;
  if (!IsWindowReduction(instruction)) {
    begin.clear();
    reduction = Cropped(instruction, &begin);
    if (reduction == nullptr) return std::nullopt;
  }
  HloInstruction *operand = reduction->operands()[0], *const initial = reduction->operands()[1];
  const HloInstruction* const root = BinaryRoot(reduction->to_apply());
  if (root == nullptr || !IsPlainArray(operand->shape()) || !IsPlainArray(instruction->shape())) return std::nullopt;
  WindowReduction found{const_cast<HloInstruction*>(reduction),
                        root->opcode(),
                        operand,
                        initial,
                        IsIdentity(root->opcode(), initial),
                        WindowDimensionsOf(reduction->window(), operand->shape(), instruction->shape())};
  for (size_t i = 0; i < begin.size(); ++i) found.dimensions[i].pad_low -= begin[i] * found.dimensions[i].stride;
  if (found.starts_at_identity) {
    found.operand = WithoutPadding(operand, found.function, &found.dimensions);
    if (!IsPlainArray(found.operand->shape())) return std::nullopt;
  }
  for (WindowDimension& d : found.dimensions) SetPadding(&d);
  return found;
}

}  // namespace hpu::hlo
