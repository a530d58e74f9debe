#include "plugin/backends/emulator/hlo_passes/placed_gradient_pass.h"

#include <string>

#include "plugin/backends/emulator/kernels/placed_gradient.h"
#include "plugin/program/marked_call.h"

namespace hpu::emulator {
namespace {

using xla::HloInstruction;

bool IsMatrix(const xla::Shape& shape, xla::PrimitiveType type) {
  return shape.IsArray() && shape.is_static() && shape.element_type() == type && shape.rank() == 2;
}

absl::StatusOr<HloInstruction*> PlacedGradientKernel(HloInstruction* call, const std::string& places_of,
                                                     KernelCalls* calls) {
  if (call->operand_count() != 2 || (places_of != kPlacesOfImage && places_of != kPlacesOfBatch)) {
    return nullptr;
  }
  const xla::Shape &gradient = call->operand(0)->shape(), &places = call->operand(1)->shape(), &images = call->shape();
  if (!IsMatrix(gradient, xla::F32) || !IsMatrix(places, xla::S64) || !IsMatrix(images, xla::F32) ||
      places.dimensions() != gradient.dimensions() || images.dimensions(0) != gradient.dimensions(0)) {
    return nullptr;
  }
  const KernelSpec spec =
      PlacedGradient{places_of == kPlacesOfBatch, gradient.dimensions(0), gradient.dimensions(1), images.dimensions(1)}
          .Spec();
  if (!MakeKernel(spec).ok()) return nullptr;
  return calls->Add(spec, call->operands(), images);
}

}  // namespace

absl::Status UsePlacedGradientKernels(xla::HloModule* module, KernelCalls* calls) {
  return ReplaceMarkedCalls(module, kPlacedGradient, [calls](HloInstruction* call, const std::string& places_of) {
    return PlacedGradientKernel(call, places_of, calls);
  });
}

}  // namespace hpu::emulator
