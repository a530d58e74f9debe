#include "plugin/backends/emulator/hlo_passes/fourier_pass.h"

#include "plugin/backends/emulator/kernels/fourier_transform.h"
#include "xla/shape_util.h"

namespace hpu::emulator {
namespace {

using xla::HloInstruction;

FourierTransform::Kind TransformKindOf(xla::FftType type) {
  switch (type) {
    case xla::FftType::IFFT:
      return FourierTransform::Kind::kInverse;
    case xla::FftType::RFFT:
      return FourierTransform::Kind::kFromReal;
    case xla::FftType::IRFFT:
      return FourierTransform::Kind::kToReal;
    default:
      return FourierTransform::Kind::kForward;
  }
}

absl::StatusOr<HloInstruction*> FourierKernel(HloInstruction* fft, KernelCalls* calls) {
  const xla::Shape &shape = fft->shape(), &operand = fft->operand(0)->shape();
  const size_t rank = fft->fft_length().size();
  if (!shape.is_static() || !operand.is_static() || xla::ShapeUtil::IsZeroElementArray(shape) ||
      xla::ShapeUtil::IsZeroElementArray(operand) || rank == 0 || rank > 3) {
    return nullptr;
  }
  FourierTransform kernel;
  kernel.kind = TransformKindOf(fft->fft_type());
  kernel.of_doubles = shape.element_type() == xla::F64 || shape.element_type() == xla::C128;
  kernel.lengths = fft->fft_length();
  kernel.batch = 1;
  for (int64_t i = 0; i < shape.dimensions_size() - static_cast<int64_t>(rank); ++i)
    kernel.batch *= shape.dimensions(i);
  return calls->Add(kernel.Spec(), fft->operands(), shape);
}

}  // namespace

absl::Status UseFourierKernels(xla::HloModule* module, KernelCalls* calls) {
  return ReplaceAll(module, xla::HloOpcode::kFft, [calls](HloInstruction* fft) { return FourierKernel(fft, calls); });
}

}  // namespace hpu::emulator
