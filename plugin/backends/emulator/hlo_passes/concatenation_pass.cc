#include "plugin/backends/emulator/hlo_passes/concatenation_pass.h"

#include <algorithm>
#include <cstdint>

#include "plugin/backends/emulator/kernels/concatenation.h"
#include "xla/shape_util.h"

namespace hpu::emulator {
namespace {

using xla::HloInstruction;

// Below, a call costs as much as it saves.
constexpr int64_t kLeastElements = 2048;
constexpr int64_t kLeastRowBytes = 32;

absl::StatusOr<HloInstruction*> KernelOf(HloInstruction* concatenation, KernelCalls* calls) {
  const xla::Shape& shape = concatenation->shape();
  if (!IsFloatArray(shape) || xla::ShapeUtil::ElementsIn(shape) < kLeastElements) return nullptr;
  const int64_t dimension = concatenation->concatenate_dimension();
  Concatenation kernel;
  for (int64_t i = 0; i < dimension; ++i) kernel.outer *= shape.dimensions(i);
  for (const HloInstruction* operand : concatenation->operands()) {
    if (!IsFloatArray(operand->shape())) return nullptr;
    kernel.row_bytes.push_back(xla::ShapeUtil::ByteSizeOf(operand->shape()) / kernel.outer);
  }
  if (*std::min_element(kernel.row_bytes.begin(), kernel.row_bytes.end()) < kLeastRowBytes) return nullptr;
  return calls->Add(kernel.Spec(), concatenation->operands(), shape);
}

}  // namespace

absl::Status UseConcatenationKernels(xla::HloModule* module, KernelCalls* calls) {
  return ReplaceAll(module, xla::HloOpcode::kConcatenate,
                    [calls](HloInstruction* concatenation) { return KernelOf(concatenation, calls); });
}

}  // namespace hpu::emulator
