#include "plugin/backends/emulator/hlo_passes/convolution_pass.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "plugin/backends/common/hlo/convolution.h"
#include "plugin/backends/common/hlo/instructions.h"
#include "plugin/backends/emulator/hlo_passes/pointwise_convolutions.h"
#include "plugin/backends/emulator/kernels/convolution.h"
#include "plugin/base/status_macros.h"
#include "xla/literal_util.h"
#include "xla/service/hlo_creation_utils.h"
#include "xla/shape_util.h"

namespace hpu::emulator {
namespace {

using xla::HloInstruction;

std::vector<int64_t> Range(int64_t begin, int64_t count) {
  std::vector<int64_t> range(count);
  for (int64_t i = 0; i < count; ++i) range[i] = begin + i;
  return range;
}

std::optional<Convolution::Kind> ConvolutionKindOf(const hlo::Convolution& c) {
  switch (c.kind) {
    case hlo::Convolution::Kind::kForward:
      return Convolution::Kind::kForward;
    case hlo::Convolution::Kind::kInputGradient:
      if (c.reversal != hlo::Convolution::Reversal::kRemoved) return std::nullopt;
      return Convolution::Kind::kInputGradient;
    case hlo::Convolution::Kind::kFilterGradient:
      return Convolution::Kind::kFilterGradient;
  }
  return std::nullopt;
}

std::optional<Convolution::Type> ConvolutionTypeOf(xla::PrimitiveType type) {
  switch (type) {
    case xla::F32:
      return Convolution::Type::kFloat32;
    case xla::BF16:
      return Convolution::Type::kBfloat16;
    case xla::F64:
      return Convolution::Type::kFloat64;
    default:
      return std::nullopt;
  }
}

// A convolution and the kernel that computes it.
struct Description {
  hlo::Convolution hlo;
  Convolution kernel;
};

std::optional<Description> Describe(const HloInstruction* convolution) {
  const xla::Shape &input = convolution->operand(0)->shape(), &kernel = convolution->operand(1)->shape();
  const xla::Shape& output = convolution->shape();
  const std::optional<Convolution::Type> type = ConvolutionTypeOf(input.element_type());
  if (!type.has_value() || !hlo::IsPlainArray(input) || !hlo::IsPlainArray(kernel) || !hlo::IsPlainArray(output) ||
      input.element_type() != kernel.element_type() || input.element_type() != output.element_type()) {
    return std::nullopt;
  }
  const std::optional<hlo::Convolution> found = hlo::DescribeConvolution(convolution);
  if (!found.has_value() || !found->IsCanonical()) return std::nullopt;
  const std::optional<Convolution::Kind> kind = ConvolutionKindOf(*found);
  if (!kind.has_value()) return std::nullopt;
  Convolution c;
  c.kind = *kind;
  c.type = *type;
  c.batch = found->batch;
  c.input_features = found->input_features;
  c.output_features = found->output_features;
  c.groups = found->groups;
  for (const hlo::Convolution::Dimension& d : found->dimensions) {
    c.dimensions.push_back({d.input, d.output, d.window, d.stride, d.dilation, d.pad_low, d.pad_high});
  }
  if (!c.Check().ok()) return std::nullopt;
  return Description{*found, c};
}

// The instructions of the reversal, which the kernel makes unnecessary.
std::vector<const HloInstruction*> ReversalOf(const HloInstruction* reversed) {
  std::vector<const HloInstruction*> reversal = {reversed};
  while (reversal.back()->opcode() != xla::HloOpcode::kReverse) reversal.push_back(reversal.back()->operand(0));
  return reversal;
}

// The filter with its groups in the output features.
absl::StatusOr<HloInstruction*> WithGroupsOfOutputs(const Description& description) {
  const Convolution& c = description.kernel;
  HloInstruction* filter = description.hlo.rhs.value;
  if (!description.hlo.groups_in_input_features || c.depthwise()) return filter;
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
  std::vector<int64_t> begin(gradient->shape().dimensions_size(), 0);
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
  const std::optional<Description> found = Describe(convolution);
  if (!found.has_value()) return nullptr;
  const Convolution& wanted = found->kernel;
  const bool pad = wanted.kind != Convolution::Kind::kForward && !wanted.HasNamedPadding();
  Convolution c = pad ? OfPaddedImage(wanted) : wanted;
  std::vector<HloInstruction*> operands = {found->hlo.lhs.value, found->hlo.rhs.value};
  PackConstantFilter(operands[1], &c);
  // TensorFlow lacks some kernels, for example forward in three dimensions with explicit padding, or bfloat16 without
  // oneDNN.
  if (!MakeKernel(c.Spec()).ok()) return nullptr;
  HPU_ASSIGN_OR_RETURN(const bool prefers, Prefers(c, *convolution, calls));
  if (!prefers) return nullptr;
  if (c.kind == Convolution::Kind::kInputGradient) {
    HPU_ASSIGN_OR_RETURN(operands[1], WithGroupsOfOutputs(*found));
  }
  const xla::Shape& shape = convolution->shape();
  if (pad && c.kind == Convolution::Kind::kFilterGradient) {
    HPU_ASSIGN_OR_RETURN(operands[0], Padded(operands[0], wanted));
  }
  const bool cut = pad && c.kind == Convolution::Kind::kInputGradient;
  HPU_ASSIGN_OR_RETURN(HloInstruction * result, calls->Add(c.Spec(), operands, cut ? ImageShape(c, shape) : shape));
  return cut ? WithoutPadding(result, wanted) : result;
}

// The bias that `add` adds to the result of a convolution that has no other user; null if there is none.
HloInstruction* BiasOf(HloInstruction* add, HloInstruction** convolution) {
  for (int i = 0; i < 2; ++i) {
    HloInstruction* sum = add->mutable_operand(i);
    HloInstruction* wide = add->mutable_operand(1 - i);
    if (sum->opcode() == xla::HloOpcode::kConvolution && sum->user_count() == 1 &&
        wide->opcode() == xla::HloOpcode::kBroadcast && wide->operand(0)->shape().dimensions_size() == 1 &&
        wide->dimensions(0) == wide->shape().dimensions_size() - 1) {
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
  const std::optional<Description> found = Describe(convolution);
  if (!found.has_value()) return nullptr;
  const Convolution& alone = found->kernel;
  Convolution c = alone;
  c.bias = true;
  PackConstantFilter(convolution->operand(1), &c);
  if (!MakeKernel(c.Spec()).ok()) return nullptr;
  HPU_ASSIGN_OR_RETURN(const bool prefers, Prefers(alone, *convolution, calls));
  if (!prefers) return nullptr;
  HPU_ASSIGN_OR_RETURN(
      HloInstruction * call,
      calls->Add(c.Spec(), {convolution->mutable_operand(0), convolution->mutable_operand(1), bias}, add->shape()));
  // Profiles show the convolution, which takes the time, and not the addition.
  call->set_metadata(convolution->metadata());
  return call;
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
