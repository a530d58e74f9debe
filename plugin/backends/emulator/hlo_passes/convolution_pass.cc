#include "plugin/backends/emulator/hlo_passes/convolution_pass.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "plugin/backends/emulator/hlo_passes/pointwise_convolutions.h"
#include "plugin/backends/emulator/kernels/convolution.h"
#include "plugin/base/status_macros.h"
#include "xla/literal_util.h"
#include "xla/service/hlo_creation_utils.h"
#include "xla/shape_util.h"

namespace hpu::emulator {
namespace {

using xla::HloInstruction;

// Order of the dimensions of an operand or result: batch, features and space.
struct Order {
  int64_t first;    // batch, or a filter's input features
  int64_t feature;  // features, or a filter's output features
  absl::Span<const int64_t> spatial;

  bool operator==(const Order& other) const {
    return first == other.first && feature == other.feature && spatial == other.spatial;
  }
};

std::vector<int64_t> Range(int64_t begin, int64_t count) {
  std::vector<int64_t> range(count);
  for (int64_t i = 0; i < count; ++i) range[i] = begin + i;
  return range;
}

std::optional<Convolution::Kind> KindOf(const xla::ConvolutionDimensionNumbers& numbers) {
  const int64_t n = numbers.input_spatial_dimensions_size();
  const Order input{numbers.input_batch_dimension(), numbers.input_feature_dimension(),
                    numbers.input_spatial_dimensions()};
  const Order kernel{numbers.kernel_input_feature_dimension(), numbers.kernel_output_feature_dimension(),
                     numbers.kernel_spatial_dimensions()};
  const Order output{numbers.output_batch_dimension(), numbers.output_feature_dimension(),
                     numbers.output_spatial_dimensions()};
  const std::vector<int64_t> from_zero = Range(0, n), from_one = Range(1, n);
  const Order image{0, n + 1, from_one}, filter{n, n + 1, from_zero};
  if (input == image && output == image) {
    if (kernel == filter) return Convolution::Kind::kForward;
    if (kernel == Order{n + 1, n, from_zero}) return Convolution::Kind::kInputGradient;
  }
  // The convolution sums over the batch.
  if (input == Order{n + 1, 0, from_one} && kernel == Order{0, n + 1, from_one} && output == filter) {
    return Convolution::Kind::kFilterGradient;
  }
  return std::nullopt;
}

// Sets the high padding with which `d.input` elements yield `d.output` results; negative padding becomes 0.
void SetHighPadding(Convolution::Dimension* d) {
  d->pad_high =
      std::max<int64_t>(0, (d->output - 1) * d->stride + (d->window - 1) * d->dilation + 1 - d->input - d->pad_low);
}

// One spatial dimension, in terms of the forward direction.
std::optional<Convolution::Dimension> DimensionOf(Convolution::Kind kind, const xla::WindowDimension& window,
                                                  int64_t input, int64_t output) {
  if (window.window_reversal()) return std::nullopt;
  Convolution::Dimension d;
  switch (kind) {
    case Convolution::Kind::kForward:
      if (window.base_dilation() != 1) return std::nullopt;
      d = {input,
           output,
           window.size(),
           window.stride(),
           window.window_dilation(),
           window.padding_low(),
           window.padding_high()};
      return d;
    case Convolution::Kind::kInputGradient:
      if (window.stride() != 1) return std::nullopt;
      d = {output, input, window.size(), window.base_dilation(), window.window_dilation()};
      d.pad_low = (d.window - 1) * d.dilation - window.padding_low();
      SetHighPadding(&d);
      return d;
    case Convolution::Kind::kFilterGradient:
      if (window.base_dilation() != 1) return std::nullopt;
      d = {input, window.size(), output, window.window_dilation(), window.stride(), window.padding_low()};
      SetHighPadding(&d);
      return d;
  }
  return std::nullopt;
}

std::optional<Convolution> Describe(const HloInstruction* convolution) {
  const xla::ConvolutionDimensionNumbers& numbers = convolution->convolution_dimension_numbers();
  const xla::Shape &input = convolution->operand(0)->shape(), &kernel = convolution->operand(1)->shape();
  const xla::Shape& output = convolution->shape();
  if (!IsFloatArray(input) || !IsFloatArray(kernel) || !IsFloatArray(output) ||
      input.element_type() != kernel.element_type() || input.element_type() != output.element_type()) {
    return std::nullopt;
  }
  const std::optional<Convolution::Kind> kind = KindOf(numbers);
  if (!kind.has_value()) return std::nullopt;
  Convolution c;
  c.kind = *kind;
  c.bfloat16 = input.element_type() == xla::BF16;
  const int64_t last = input.rank() - 1;
  const bool input_gradient = c.kind == Convolution::Kind::kInputGradient;
  c.batch = input.dimensions(0);
  c.input_features = input_gradient ? output.dimensions(last) : input.dimensions(last);
  c.output_features = input_gradient ? input.dimensions(last) : output.dimensions(last);
  const bool by_batch = c.kind == Convolution::Kind::kFilterGradient;
  if ((by_batch ? convolution->feature_group_count() : convolution->batch_group_count()) != 1) return std::nullopt;
  c.groups = by_batch ? convolution->batch_group_count() : convolution->feature_group_count();
  for (int64_t i = 0; i < input.rank() - 2; ++i) {
    auto dimension =
        DimensionOf(c.kind, convolution->window().dimensions(i), input.dimensions(numbers.input_spatial_dimensions(i)),
                    output.dimensions(numbers.output_spatial_dimensions(i)));
    if (!dimension.has_value()) return std::nullopt;
    c.dimensions.push_back(*dimension);
  }
  if (!c.Check().ok()) return std::nullopt;
  return c;
}

// The filter whose spatial dimensions `reversed` reverses; null if `reversed` is not such a reversal.
HloInstruction* ReversedFilter(HloInstruction* reversed) {
  HloInstruction* source = SourceOf(reversed);
  const std::vector<int64_t> spatial = Range(0, source->shape().rank() - 2);
  if (source->opcode() != xla::HloOpcode::kReverse || source->dimensions() != absl::MakeConstSpan(spatial)) {
    return nullptr;
  }
  return source->mutable_operand(0);
}

// The instructions of the reversal, which the kernel makes unnecessary.
std::vector<const HloInstruction*> ReversalOf(const HloInstruction* reversed) {
  std::vector<const HloInstruction*> reversal = {reversed};
  while (reversal.back()->opcode() != xla::HloOpcode::kReverse) reversal.push_back(reversal.back()->operand(0));
  return reversal;
}

// Moves a grouped filter's groups back from the input features, where tf2xla has put them, to the output features.
absl::StatusOr<HloInstruction*> WithGroupsOfOutputs(HloInstruction* filter, const Convolution& c) {
  if (c.groups == 1 || c.depthwise()) return filter;
  const int64_t n = c.dimensions.size();
  std::vector<int64_t> dims(filter->shape().dimensions().begin(), filter->shape().dimensions().end());
  std::vector<int64_t> split(dims.begin(), dims.begin() + n);
  split.insert(split.end(), {c.groups, c.input_features / c.groups, c.output_features / c.groups});
  HPU_ASSIGN_OR_RETURN(filter, xla::MakeReshapeHlo(split, filter));
  std::vector<int64_t> order = Range(0, n + 3);
  std::swap(order[n], order[n + 1]);
  HPU_ASSIGN_OR_RETURN(filter, xla::MakeTransposeHlo(filter, order));
  dims[n] = c.input_features / c.groups;
  dims[n + 1] = c.output_features;
  return xla::MakeReshapeHlo(dims, filter);
}

// The image with the convolution's padding around it.
absl::StatusOr<HloInstruction*> Padded(HloInstruction* image, const Convolution& c) {
  xla::PaddingConfig padding;
  padding.add_dimensions();
  for (const Convolution::Dimension& d : c.dimensions) {
    auto* dimension = padding.add_dimensions();
    dimension->set_edge_padding_low(d.pad_low);
    dimension->set_edge_padding_high(d.pad_high);
  }
  padding.add_dimensions();
  HloInstruction* zero = image->parent()->AddInstruction(
      HloInstruction::CreateConstant(xla::LiteralUtil::Zero(image->shape().element_type())));
  return xla::MakePadHlo(image, zero, padding);
}

// The part of a padded image's gradient that belongs to the image.
absl::StatusOr<HloInstruction*> WithoutPadding(HloInstruction* gradient, const Convolution& c) {
  std::vector<int64_t> begin(gradient->shape().rank(), 0);
  std::vector<int64_t> end(gradient->shape().dimensions().begin(), gradient->shape().dimensions().end());
  for (size_t i = 0; i < c.dimensions.size(); ++i) {
    begin[i + 1] = c.dimensions[i].pad_low;
    end[i + 1] = c.dimensions[i].pad_low + c.dimensions[i].input;
  }
  return xla::MakeSliceHlo(gradient, begin, end, std::vector<int64_t>(begin.size(), 1));
}

// The same convolution on the padded image, because TensorFlow's gradient kernels support only "SAME" and "VALID"
// padding.
Convolution OfPaddedImage(Convolution c) {
  for (Convolution::Dimension& d : c.dimensions) {
    d.input += d.pad_low + d.pad_high;
    d.pad_low = d.pad_high = 0;
  }
  return c;
}

xla::Shape ImageShape(const Convolution& c, xla::Shape shape) {
  for (size_t i = 0; i < c.dimensions.size(); ++i) shape.set_dimensions(i + 1, c.dimensions[i].input);
  return shape;
}

// Always prefers kernels for groups: XLA splits grouped convolutions into loops, which are slow even to measure.
absl::StatusOr<bool> Prefers(const Convolution& c, const HloInstruction& convolution, KernelCalls* calls) {
  if (c.groups > 1) return true;
  std::vector<const HloInstruction*> inner;
  if (c.kind == Convolution::Kind::kInputGradient) inner = ReversalOf(convolution.operand(1));
  return calls->Prefers(convolution, inner);
}

// Lets the kernel pack a constant filter only once, if the kernel supports it.
void PackConstantFilter(const HloInstruction* filter, Convolution* c) {
  c->constant_filter = filter->opcode() == xla::HloOpcode::kConstant;
  if (c->constant_filter && !MakeKernel(c->Spec()).ok()) c->constant_filter = false;
}

absl::StatusOr<HloInstruction*> ConvolutionKernel(HloInstruction* convolution, KernelCalls* calls) {
  const std::optional<Convolution> wanted = Describe(convolution);
  if (!wanted.has_value()) return nullptr;
  const bool pad = wanted->kind != Convolution::Kind::kForward && !wanted->HasNamedPadding();
  Convolution c = pad ? OfPaddedImage(*wanted) : *wanted;
  std::vector<HloInstruction*> operands(convolution->operands().begin(), convolution->operands().end());
  if (c.kind == Convolution::Kind::kInputGradient) {
    operands[1] = ReversedFilter(operands[1]);
    if (operands[1] == nullptr) return nullptr;
  }
  PackConstantFilter(operands[1], &c);
  // TensorFlow lacks some kernels, for example forward in three dimensions with explicit padding, or bfloat16 without
  // oneDNN.
  if (!MakeKernel(c.Spec()).ok()) return nullptr;
  HPU_ASSIGN_OR_RETURN(const bool prefers, Prefers(c, *convolution, calls));
  if (!prefers) return nullptr;
  if (c.kind == Convolution::Kind::kInputGradient) {
    HPU_ASSIGN_OR_RETURN(operands[1], WithGroupsOfOutputs(operands[1], c));
  }
  const xla::Shape& shape = convolution->shape();
  if (pad && c.kind == Convolution::Kind::kFilterGradient) {
    HPU_ASSIGN_OR_RETURN(operands[0], Padded(operands[0], *wanted));
  }
  const bool cut = pad && c.kind == Convolution::Kind::kInputGradient;
  HPU_ASSIGN_OR_RETURN(HloInstruction * result, calls->Add(c.Spec(), operands, cut ? ImageShape(c, shape) : shape));
  return cut ? WithoutPadding(result, *wanted) : result;
}

// The bias that `add` adds to the result of a convolution that has no other user; null if there is none.
HloInstruction* BiasOf(HloInstruction* add, HloInstruction** convolution) {
  for (int i = 0; i < 2; ++i) {
    HloInstruction* sum = add->mutable_operand(i);
    HloInstruction* wide = add->mutable_operand(1 - i);
    if (sum->opcode() == xla::HloOpcode::kConvolution && sum->user_count() == 1 &&
        wide->opcode() == xla::HloOpcode::kBroadcast && wide->operand(0)->shape().rank() == 1 &&
        wide->dimensions(0) == wide->shape().rank() - 1) {
      *convolution = sum;
      return wide->mutable_operand(0);
    }
  }
  return nullptr;
}

// Leaves a following ReLU to XLA: oneDNN's ReLU turns NaN into 0, XLA's keeps NaN.
absl::StatusOr<HloInstruction*> KernelWithBias(HloInstruction* add, KernelCalls* calls) {
  HloInstruction* convolution = nullptr;
  HloInstruction* bias = BiasOf(add, &convolution);
  if (bias == nullptr) return nullptr;
  const std::optional<Convolution> alone = Describe(convolution);
  if (!alone.has_value()) return nullptr;
  Convolution c = *alone;
  c.bias = true;
  PackConstantFilter(convolution->operand(1), &c);
  if (!MakeKernel(c.Spec()).ok()) return nullptr;
  HPU_ASSIGN_OR_RETURN(const bool prefers, Prefers(*alone, *convolution, calls));
  if (!prefers) return nullptr;
  return calls->Add(c.Spec(), {convolution->mutable_operand(0), convolution->mutable_operand(1), bias}, add->shape());
}

}  // namespace

absl::Status UseConvolutionKernels(xla::HloModule* module, KernelCalls* calls) {
  HPU_RETURN_IF_ERROR(
      ReplaceAll(module, xla::HloOpcode::kAdd, [calls](HloInstruction* add) { return KernelWithBias(add, calls); }));
  HPU_RETURN_IF_ERROR(MakeProductsOfPointwiseConvolutions(module));
  return ReplaceAll(module, xla::HloOpcode::kConvolution,
                    [calls](HloInstruction* convolution) { return ConvolutionKernel(convolution, calls); });
}

}  // namespace hpu::emulator
