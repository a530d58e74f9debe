#include "plugin/backends/emulator/hlo_passes/dilation_pass.h"

#include <algorithm>
#include <cstdint>
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

// The attributes of the operation; `sizes` lacks the sizes of the arrays.
struct Attributes {
  Dilation sizes;
  int64_t row_pad = 0;  // before the first row
  int64_t column_pad = 0;
};

std::optional<Attributes> Parse(const std::string& text) {
  const std::vector<absl::string_view> words = absl::StrSplit(text, ' ');
  const std::optional<Dilation::Of> of = Named(words[0]);
  if (words.size() != 7 || !of.has_value()) return std::nullopt;
  Attributes attributes;
  attributes.sizes.of = *of;
  Dilation::Dimension &rows = attributes.sizes.rows, &columns = attributes.sizes.columns;
  int64_t* const numbers[] = {&rows.stride,    &rows.rate,    &attributes.row_pad,
                              &columns.stride, &columns.rate, &attributes.column_pad};
  for (size_t i = 0; i < 6; ++i) {
    if (!absl::SimpleAtoi(words[i + 1], numbers[i])) return std::nullopt;
  }
  return attributes;
}

// Fills in the sizes of the arrays; false unless operands and result are valid.
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

// Whether TensorFlow's padding SAME, or VALID, implies this number of outputs and padding before the first pixel.
bool Implies(bool same_padding, const Dilation::Dimension& d, int64_t pad) {
  if (d.stride <= 0 || d.rate <= 0) return false;
  const int64_t span = (d.window - 1) * d.rate + 1;
  const int64_t output = ((same_padding ? d.input : d.input - span + 1) + d.stride - 1) / d.stride;
  const int64_t padding = same_padding ? std::max<int64_t>((output - 1) * d.stride + span - d.input, 0) : 0;
  return d.output == output && pad == padding / 2;
}

absl::StatusOr<HloInstruction*> DilationKernel(HloInstruction* call, const std::string& text, KernelCalls* calls) {
  std::optional<Attributes> attributes = Parse(text);
  if (!attributes.has_value() || !FillIn(*call, &attributes->sizes)) return nullptr;
  Dilation& dilation = attributes->sizes;
  for (const bool same_padding : {false, true}) {
    dilation.same_padding = same_padding;
    // MakeKernel limits the sizes, so that Implies() does not overflow.
    if (MakeKernel(dilation.Spec()).ok() && Implies(same_padding, dilation.rows, attributes->row_pad) &&
        Implies(same_padding, dilation.columns, attributes->column_pad)) {
      return calls->Add(dilation.Spec(), call->operands(), call->shape());
    }
  }
  return nullptr;
}

}  // namespace

absl::Status UseDilationKernels(xla::HloModule* module, KernelCalls* calls) {
  return ReplaceMarkedCalls(module, kDilation, [calls](HloInstruction* call, const std::string& text) {
    return DilationKernel(call, text, calls);
  });
}

}  // namespace hpu::emulator
