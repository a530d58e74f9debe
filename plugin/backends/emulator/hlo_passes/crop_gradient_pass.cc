#include "plugin/backends/emulator/hlo_passes/crop_gradient_pass.h"

#include <optional>
#include <string>

#include "plugin/backends/emulator/kernels/crop_gradient.h"
#include "plugin/program/marked_call.h"

namespace hpu::emulator {
namespace {

using xla::HloInstruction;

bool HasDims(const xla::Shape& shape, xla::PrimitiveType type, absl::Span<const int64_t> dims) {
  return shape.IsArray() && shape.is_static() && shape.element_type() == type && shape.dimensions() == dims;
}

bool IsOfImages(const xla::Shape& shape) { return IsFloat32Array(shape) && shape.rank() == 4; }

// The sizes, if the operands and the result are valid.
std::optional<CropGradient> SizesOf(const HloInstruction& call, CropGradient::Of of) {
  const bool of_image = of == CropGradient::Of::kImage;
  const int64_t places = of_image ? 1 : 2;  // index of the operand `y`
  if (call.operand_count() != places + 3) return std::nullopt;
  const xla::Shape& crops = call.operand(0)->shape();
  const xla::Shape& images = of_image ? call.shape() : call.operand(1)->shape();
  if (!IsOfImages(crops) || !IsOfImages(images) || crops.dimensions(3) != images.dimensions(3)) return std::nullopt;
  const CropGradient sizes{of,
                           crops.dimensions(0),
                           crops.dimensions(1),
                           crops.dimensions(2),
                           images.dimensions(0),
                           images.dimensions(1),
                           images.dimensions(2),
                           images.dimensions(3)};
  const bool fits = HasDims(call.operand(places)->shape(), xla::F32, {sizes.boxes, sizes.rows}) &&
                    HasDims(call.operand(places + 1)->shape(), xla::F32, {sizes.boxes, sizes.columns}) &&
                    HasDims(call.operand(places + 2)->shape(), xla::S32, {sizes.boxes}) &&
                    (of_image || HasDims(call.shape(), xla::F32, {sizes.boxes, sizes.rows + sizes.columns}));
  return fits ? std::make_optional(sizes) : std::nullopt;
}

absl::StatusOr<HloInstruction*> CropGradientKernel(HloInstruction* call, const std::string& gradient,
                                                   KernelCalls* calls) {
  const bool of_image = gradient == kImageGradient;
  if (!of_image && gradient != kPlacesGradient) return nullptr;
  const auto sizes = SizesOf(*call, of_image ? CropGradient::Of::kImage : CropGradient::Of::kPlaces);
  if (!sizes.has_value() || !MakeKernel(sizes->Spec()).ok()) return nullptr;
  return calls->Add(sizes->Spec(), call->operands(), call->shape());
}

}  // namespace

absl::Status UseCropGradientKernels(xla::HloModule* module, KernelCalls* calls) {
  return ReplaceMarkedCalls(module, kCropGradient, [calls](HloInstruction* call, const std::string& gradient) {
    return CropGradientKernel(call, gradient, calls);
  });
}

}  // namespace hpu::emulator
