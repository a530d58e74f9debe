#include "plugin/backends/emulator/hlo_passes/dilation_pass.h"

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "plugin/backends/emulator/kernels/dilation.h"
#include "plugin/program/marked_call.h"

namespace hpu::emulator {
namespace {

using xla::HloInstruction;

bool HasDims(const xla::Shape& shape, absl::Span<const int64_t> dims) {
  return IsFloat32Array(shape) && shape.dimensions() == dims;
}

std::optional<Dilation::Of> Named(absl::string_view word) {
  if (word == kDilationMaxima) return Dilation::Of::kMaxima;
  if (word == kDilationInputGradient) return Dilation::Of::kInput;
  if (word == kDilationFilterGradient) return Dilation::Of::kFilter;
  return std::nullopt;
}

// Parses the attribute, which does not contain the sizes of the arrays.
std::optional<Dilation> Parse(const std::string& text) {
  const std::vector<absl::string_view> words = absl::StrSplit(text, ' ');
  const std::optional<Dilation::Of> of = Named(words[0]);
  if (words.size() != 7 || !of.has_value()) return std::nullopt;
  Dilation dilation;
  dilation.of = *of;
  for (const bool rows : {true, false}) {
    Dilation::Dimension& d = rows ? dilation.rows : dilation.columns;
    const size_t first = rows ? 1 : 4;
    if (!absl::SimpleAtoi(words[first], &d.stride) || !absl::SimpleAtoi(words[first + 1], &d.rate) ||
        !absl::SimpleAtoi(words[first + 2], &d.pad_low)) {
      return std::nullopt;
    }
  }
  return dilation;
}

// Fills in the sizes; false unless operands and result are valid.
bool FillIn(const HloInstruction& call, Dilation* dilation) {
  const bool gradient = dilation->of != Dilation::Of::kMaxima;
  if (call.operand_count() != (gradient ? 3 : 2)) return false;
  const xla::Shape &images = call.operand(0)->shape(), &filter = call.operand(1)->shape();
  const xla::Shape& maxima = gradient ? call.operand(2)->shape() : call.shape();
  if (!IsFloat32Array(images) || images.rank() != 4 || !IsFloat32Array(maxima) || maxima.rank() != 4 ||
      !IsFloat32Array(filter) || filter.rank() != 3) {
    return false;
  }
  dilation->batch = images.dimensions(0);
  dilation->channels = images.dimensions(3);
  for (const int64_t i : {0, 1}) {
    Dilation::Dimension& d = i == 0 ? dilation->rows : dilation->columns;
    d.input = images.dimensions(i + 1);
    d.output = maxima.dimensions(i + 1);
    d.window = filter.dimensions(i);
  }
  return filter.dimensions(2) == dilation->channels &&
         HasDims(maxima, {dilation->batch, dilation->rows.output, dilation->columns.output, dilation->channels}) &&
         (!gradient ||
          HasDims(call.shape(), dilation->of == Dilation::Of::kInput ? images.dimensions() : filter.dimensions()));
}

absl::StatusOr<HloInstruction*> DilationKernel(HloInstruction* call, const std::string& text, KernelCalls* calls) {
  std::optional<Dilation> dilation = Parse(text);
  if (!dilation.has_value() || !FillIn(*call, &*dilation) || !MakeKernel(dilation->Spec()).ok()) return nullptr;
  return calls->Add(dilation->Spec(), call->operands(), call->shape());
}

}  // namespace

absl::Status UseDilationKernels(xla::HloModule* module, KernelCalls* calls) {
  return ReplaceMarkedCalls(module, kDilation, [calls](HloInstruction* call, const std::string& text) {
    return DilationKernel(call, text, calls);
  });
}

}  // namespace hpu::emulator
