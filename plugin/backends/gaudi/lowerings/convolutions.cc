// Lowerings of convolutions.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "plugin/backends/common/hlo/convolution.h"
#include "plugin/backends/gaudi/lowerings/lowerings.h"
#include "plugin/backends/gaudi/lowerings/window_reductions.h"
#include "plugin/backends/gaudi/plan/element_types.h"
#include "plugin/backends/gaudi/plan/nodes.h"
#include "plugin/backends/gaudi/plan/padding.h"
#include "plugin/backends/gaudi/synapse/params.h"
#include "plugin/base/status_macros.h"
#include "plugin/base/version/contact.h"
#include "xla/shape_util.h"
#include "xla/xla_data.pb.h"

namespace hpu::gaudi {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;
using Kind = hlo::Convolution::Kind;
using ConvolutionDimension = hlo::Convolution::Dimension;

constexpr int64_t kMaxWindow = 255;     // of one side of a node's filter
constexpr int64_t kMaxSpatialRank = 3;  // of a convolution

// A convolution in Synapse's order: images {C,W,H[,D],N}, filters {K,C,S,R[,Q]}.
struct ConvolutionNode {
  Kind kind;
  uint64_t batch, input_features, output_features, groups;
  std::vector<ConvolutionDimension> dimensions;  // width, height, depth
  synapse::synDataType result_type;

  bool is_3d() const { return dimensions.size() == 3; }

  Sizes ImageSizes() const {
    Sizes sizes = {input_features};
    for (const ConvolutionDimension& d : dimensions) sizes.push_back(d.input);
    sizes.push_back(batch);
    return sizes;
  }
  Sizes FilterSizes() const {
    Sizes sizes = {output_features, input_features / groups};
    for (const ConvolutionDimension& d : dimensions) sizes.push_back(d.window);
    return sizes;
  }
  // Sizes of the forward convolution's result.
  Sizes OutputSizes() const {
    Sizes sizes = {output_features};
    for (const ConvolutionDimension& d : dimensions) sizes.push_back(d.output);
    sizes.push_back(batch);
    return sizes;
  }
  // Sizes of the node's result.
  Sizes ResultSizes() const {
    return kind == Kind::kForward ? OutputSizes() : kind == Kind::kInputGradient ? ImageSizes() : FilterSizes();
  }
};

template <typename Params>
std::string Params2D(const ConvolutionNode& node) {
  Params params = {};
  const ConvolutionDimension &width = node.dimensions[0], &height = node.dimensions[1];
  params.kW = static_cast<uint32_t>(width.window);
  params.kH = static_cast<uint32_t>(height.window);
  params.dW = static_cast<uint32_t>(width.stride);
  params.dH = static_cast<uint32_t>(height.stride);
  params.padL = static_cast<int32_t>(width.pad_low);
  params.padR = static_cast<int32_t>(width.pad_high);
  params.padT = static_cast<int32_t>(height.pad_low);
  params.padB = static_cast<int32_t>(height.pad_high);
  params.dilW = static_cast<uint32_t>(width.dilation);
  params.dilH = static_cast<uint32_t>(height.dilation);
  params.activation.numChannels = 1;
  params.nGroups = static_cast<uint32_t>(node.groups);
  return ParamsBytes(params);
}

template <typename Params>
std::string Params3D(const ConvolutionNode& node) {
  Params params = {};
  for (int i = 0; i < 3; ++i) {
    const ConvolutionDimension& d = node.dimensions[i];
    params.kernel[i] = static_cast<uint32_t>(d.window);
    params.stride[i] = static_cast<uint32_t>(d.stride);
    params.padding[2 * i] = static_cast<int32_t>(d.pad_low);
    params.padding[2 * i + 1] = static_cast<int32_t>(d.pad_high);
    params.dilation[i] = static_cast<uint32_t>(d.dilation);
  }
  params.activation.numChannels = 1;
  params.nGroups = static_cast<uint32_t>(node.groups);
  return ParamsBytes(params);
}

std::string ParamsOf(const ConvolutionNode& node, synapse::Profile profile) {
  if (profile == synapse::Profile::k1_5) {
    return node.is_3d() ? Params3D<synapse::synConvolution3DParams>(node)
                        : Params2D<synapse::synConvolutionParams>(node);
  }
  return node.is_3d() ? Params3D<synapse::synConvolution3DParamsV2>(node)
                      : Params2D<synapse::synConvolutionParamsV2>(node);
}

absl::StatusOr<TensorId> AddConvolutionNode(PlanBuilder& builder, const ConvolutionNode& node, TensorId lhs,
                                            TensorId rhs) {
  const TensorType result = {node.result_type, node.ResultSizes()};
  const std::string params = ParamsOf(node, builder.profile());
  switch (node.kind) {
    case Kind::kForward:
      return builder.Add(node.is_3d() ? "spatial_convolution3d" : "spatial_convolution", {lhs, rhs}, result, params);
    case Kind::kInputGradient:
      return builder.Add(node.is_3d() ? "dedx3d" : "dedx", {lhs, rhs}, result, params);
    case Kind::kFilterGradient:
      return builder.Add(node.is_3d() ? "dedw3d" : "dedw", {rhs, lhs}, result, params);
  }
  return absl::InternalError(
      absl::StrCat("unknown kind of convolution: ", static_cast<int>(node.kind), "; " HPU_REPORT_BUG));
}

absl::StatusOr<TensorId> ZeroOperand(PlanBuilder& builder, synapse::synDataType type, const Sizes& sizes) {
  HPU_ASSIGN_OR_RETURN(const TensorId zero, Scalar(builder, type, 0, 1));
  return Splat(builder, zero, sizes);
}

// Replaces negative pads by slices or zeros outside the node: what nodes do with negative pads is not known.
absl::StatusOr<TensorId> ConvolveCropped(PlanBuilder& builder, ConvolutionNode node, TensorId lhs, TensorId rhs) {
  const Sizes whole = node.ImageSizes();
  const Sizes result = node.ResultSizes();
  Padding crop(whole.size());
  Padding uncrop(whole.size());
  for (size_t i = 0; i < node.dimensions.size(); ++i) {
    ConvolutionDimension& d = node.dimensions[i];
    crop.low[1 + i] = std::min<int64_t>(d.pad_low, 0);
    crop.high[1 + i] = std::min<int64_t>(d.pad_high, 0);
    uncrop.low[1 + i] = -crop.low[1 + i];
    uncrop.high[1 + i] = -crop.high[1 + i];
    d.input += crop.low[1 + i] + crop.high[1 + i];
    d.pad_low = std::max<int64_t>(d.pad_low, 0);
    d.pad_high = std::max<int64_t>(d.pad_high, 0);
    if (d.input <= 0) return ZeroOperand(builder, node.result_type, result);  // all windows are in the padding
  }
  if (node.ImageSizes() == whole) return AddConvolutionNode(builder, node, lhs, rhs);
  if (node.kind == Kind::kInputGradient) {
    HPU_ASSIGN_OR_RETURN(const TensorId inner, AddConvolutionNode(builder, node, lhs, rhs));
    return PadWithZeros(builder, inner, uncrop);
  }
  HPU_ASSIGN_OR_RETURN(lhs, PadWithZeros(builder, lhs, crop));
  return AddConvolutionNode(builder, node, lhs, rhs);
}

// The convolution with elements [begin, end) of one window dimension.
ConvolutionNode PartOfWindow(ConvolutionNode node, size_t dimension, int64_t begin, int64_t end) {
  ConvolutionDimension& d = node.dimensions[dimension];
  d.pad_low -= begin * d.dilation;
  d.pad_high -= (d.window - end) * d.dilation;
  d.window = end - begin;
  return node;
}

// Splits a filter that is too long for a node, in `dimension` and later dimensions. Sums the results of the parts in
// float32, or concatenates the parts of a filter's gradient.
absl::StatusOr<TensorId> Convolve(PlanBuilder& builder, const ConvolutionNode& node, size_t dimension, TensorId lhs,
                                  TensorId rhs) {
  if (dimension == node.dimensions.size()) return ConvolveCropped(builder, node, lhs, rhs);
  const int64_t window = node.dimensions[dimension].window;
  if (window <= kMaxWindow) return Convolve(builder, node, dimension + 1, lhs, rhs);
  ConvolutionNode wide = node;
  if (node.kind != Kind::kFilterGradient) wide.result_type = synapse::syn_type_float;
  std::vector<TensorId> parts;
  for (int64_t begin = 0; begin < window; begin += kMaxWindow) {
    const int64_t end = std::min(begin + kMaxWindow, window);
    TensorId filter = rhs;
    if (node.kind != Kind::kFilterGradient) {
      HPU_ASSIGN_OR_RETURN(filter, SliceAxis(builder, rhs, 2 + dimension, begin, end - begin, /*step=*/1));
    }
    HPU_ASSIGN_OR_RETURN(const TensorId part,
                         Convolve(builder, PartOfWindow(wide, dimension, begin, end), dimension + 1, lhs, filter));
    parts.push_back(part);
  }
  if (node.kind == Kind::kFilterGradient) return Concatenate(builder, parts, static_cast<uint32_t>(2 + dimension));
  TensorId sum = parts.front();
  for (size_t i = 1; i < parts.size(); ++i) {
    HPU_ASSIGN_OR_RETURN(sum, Elementwise(builder, "add_fwd", {sum, parts[i]}));
  }
  return Cast(builder, sum, node.result_type);
}

// {K / groups, C, window…} to {K, C / groups, window…}, as hlo::Convolution::groups_in_input_features describes it.
absl::StatusOr<TensorId> MoveGroups(PlanBuilder& builder, TensorId filter, const ConvolutionNode& node) {
  const uint64_t outputs = node.output_features / node.groups;
  const uint64_t inputs = node.input_features / node.groups;
  const uint64_t window = ElementCount(builder.sizes(filter)) / (outputs * node.input_features);
  HPU_ASSIGN_OR_RETURN(filter, Reshape(builder, filter, {outputs, inputs, node.groups, window}));
  HPU_ASSIGN_OR_RETURN(filter, Transpose(builder, filter, {0, 2, 1, 3}));
  return Reshape(builder, filter, node.FilterSizes());
}

// The filter with all window dimensions reversed.
absl::StatusOr<TensorId> ReverseWindow(PlanBuilder& builder, TensorId filter) {
  for (size_t axis = 2; axis < builder.sizes(filter).size(); ++axis) {
    HPU_ASSIGN_OR_RETURN(filter, Reverse(builder, filter, axis));
  }
  return filter;
}

ConvolutionNode NodeOf(const hlo::Convolution& convolution, synapse::synDataType result_type) {
  ConvolutionNode node = {convolution.kind,
                          static_cast<uint64_t>(convolution.batch),
                          static_cast<uint64_t>(convolution.input_features),
                          static_cast<uint64_t>(convolution.output_features),
                          static_cast<uint64_t>(convolution.groups),
                          {convolution.dimensions.rbegin(), convolution.dimensions.rend()},
                          result_type};
  // Nodes have two or three spatial dimensions.
  if (node.dimensions.size() == 1) node.dimensions.push_back({1, 1, 1});
  return node;
}

// Nodes for a convolution of `lhs` and `rhs`, the tensors of its operands. Returns the result in HLO's order.
absl::StatusOr<TensorId> LowerDescribed(PlanBuilder& builder, const hlo::Convolution& convolution,
                                        synapse::synDataType result_type, TensorId lhs, TensorId rhs) {
  const ConvolutionNode node = NodeOf(convolution, result_type);
  HPU_ASSIGN_OR_RETURN(lhs, HloTranspose(builder, lhs, convolution.lhs.permutation));
  HPU_ASSIGN_OR_RETURN(rhs, HloTranspose(builder, rhs, convolution.rhs.permutation));
  if (convolution.groups_in_input_features) {
    HPU_ASSIGN_OR_RETURN(rhs, MoveGroups(builder, rhs, node));
  }
  const bool makes_filter = node.kind == Kind::kFilterGradient;
  HPU_ASSIGN_OR_RETURN(
      lhs, Reshape(builder, lhs, node.kind == Kind::kInputGradient ? node.OutputSizes() : node.ImageSizes()));
  HPU_ASSIGN_OR_RETURN(rhs, Reshape(builder, rhs, makes_filter ? node.OutputSizes() : node.FilterSizes()));
  if (convolution.reversal == hlo::Convolution::Reversal::kNeeded) {
    HPU_ASSIGN_OR_RETURN(rhs, ReverseWindow(builder, rhs));
  }
  HPU_ASSIGN_OR_RETURN(TensorId result, Convolve(builder, node, 0, lhs, rhs));
  // Removes the dimension of size 1 that NodeOf has added to a single spatial dimension.
  Sizes sizes = node.ResultSizes();
  if (convolution.dimensions.size() == 1) sizes.erase(sizes.begin() + (makes_filter ? 3 : 2));
  HPU_ASSIGN_OR_RETURN(result, Reshape(builder, result, sizes));
  return HloTranspose(builder, result, convolution.result_permutation);
}

// A convolution without input dilation, padding and window reversal, and the tensors of its operands. Owns its
// instructions, which are in no module.
struct PlainConvolution {
  std::unique_ptr<HloInstruction> input, kernel, convolution;
  TensorId lhs, rhs;
};

xla::Shape HloShapeOf(const Sizes& sizes, xla::PrimitiveType type) {
  return xla::ShapeUtil::MakeShape(type, std::vector<int64_t>(sizes.rbegin(), sizes.rend()));
}

// Applies input dilation, padding and window reversal to the operands, so that the convolution has none of them.
absl::StatusOr<PlainConvolution> MakePlain(PlanBuilder& builder, const HloInstruction& instruction, TensorId lhs,
                                           TensorId rhs) {
  const xla::ConvolutionDimensionNumbers& numbers = instruction.convolution_dimension_numbers();
  xla::Window window = instruction.window();
  Padding padding(builder.sizes(lhs).size());
  for (int i = 0; i < window.dimensions_size(); ++i) {
    xla::WindowDimension* d = window.mutable_dimensions(i);
    const size_t input_axis = padding.low.size() - 1 - numbers.input_spatial_dimensions(i);
    const size_t kernel_axis = padding.low.size() - 1 - numbers.kernel_spatial_dimensions(i);
    padding.low[input_axis] = d->padding_low();
    padding.high[input_axis] = d->padding_high();
    padding.steps[input_axis] = d->base_dilation();
    if (d->window_reversal()) {
      HPU_ASSIGN_OR_RETURN(rhs, Reverse(builder, rhs, kernel_axis));
    }
    d->set_padding_low(0);
    d->set_padding_high(0);
    d->set_base_dilation(1);
    d->set_window_reversal(false);
  }
  HPU_ASSIGN_OR_RETURN(lhs, PadWithZeros(builder, lhs, padding));
  PlainConvolution plain = {nullptr, nullptr, nullptr, lhs, rhs};
  const auto parameter = [&](int64_t number, TensorId value) {
    const xla::PrimitiveType type = instruction.operand(number)->shape().element_type();
    return HloInstruction::CreateParameter(number, HloShapeOf(builder.sizes(value), type), "operand");
  };
  plain.input = parameter(0, lhs);
  plain.kernel = parameter(1, rhs);
  plain.convolution = HloInstruction::CreateConvolve(instruction.shape(), plain.input.get(), plain.kernel.get(),
                                                     instruction.feature_group_count(), instruction.batch_group_count(),
                                                     window, numbers, instruction.precision_config());
  return plain;
}

// A convolution without spatial dimensions multiplies features. Lowers it with a spatial dimension of size 1.
absl::StatusOr<TensorId> LowerWithoutWindow(Lowering& lowering, const HloInstruction& instruction, TensorId lhs,
                                            TensorId rhs, synapse::synDataType result_type) {
  PlanBuilder& builder = lowering.builder();
  xla::ConvolutionDimensionNumbers numbers = instruction.convolution_dimension_numbers();
  numbers.add_input_spatial_dimensions(2);
  numbers.add_kernel_spatial_dimensions(2);
  numbers.add_output_spatial_dimensions(2);
  xla::Window window;
  xla::WindowDimension* d = window.add_dimensions();
  d->set_size(1);
  d->set_stride(1);
  d->set_window_dilation(1);
  d->set_base_dilation(1);
  const auto with_unit = [](xla::Shape shape) {
    shape.add_dimensions(1);
    return xla::ShapeUtil::MakeShape(shape.element_type(), shape.dimensions());
  };
  const auto input = HloInstruction::CreateParameter(0, with_unit(instruction.operand(0)->shape()), "input");
  const auto kernel = HloInstruction::CreateParameter(1, with_unit(instruction.operand(1)->shape()), "kernel");
  const auto convolution = HloInstruction::CreateConvolve(
      with_unit(instruction.shape()), input.get(), kernel.get(), instruction.feature_group_count(),
      instruction.batch_group_count(), window, numbers, instruction.precision_config());
  const std::optional<hlo::Convolution> described = hlo::DescribeConvolution(convolution.get());
  if (!described.has_value()) {
    return absl::InternalError(
        "DescribeConvolution rejects the convolution after a spatial dimension of size 1 was added; " HPU_REPORT_BUG);
  }
  HPU_ASSIGN_OR_RETURN(lhs, Reshape(builder, lhs, SizesOf(input->shape())));
  HPU_ASSIGN_OR_RETURN(rhs, Reshape(builder, rhs, SizesOf(kernel->shape())));
  HPU_ASSIGN_OR_RETURN(const TensorId result, LowerDescribed(builder, *described, result_type, lhs, rhs));
  return Reshape(builder, result, SizesOf(instruction.shape()));
}

// The operands as tensors of one type.
absl::Status ReadOperands(Lowering& lowering, const HloInstruction* a, const HloInstruction* b,
                          synapse::synDataType result_type, TensorId* lhs, TensorId* rhs) {
  PlanBuilder& builder = lowering.builder();
  HPU_ASSIGN_OR_RETURN(*lhs, lowering.Value(a));
  HPU_ASSIGN_OR_RETURN(*rhs, lowering.Value(b));
  if (builder.type(*lhs) == builder.type(*rhs)) return absl::OkStatus();
  HPU_ASSIGN_OR_RETURN(*lhs, Cast(builder, *lhs, result_type));
  HPU_ASSIGN_OR_RETURN(*rhs, Cast(builder, *rhs, result_type));
  return absl::OkStatus();
}

absl::Status LowerConvolution(Lowering& lowering, const HloInstruction& instruction) {
  PlanBuilder& builder = lowering.builder();
  HPU_ASSIGN_OR_RETURN(const TensorType type, lowering.TypeOf(instruction));
  if (!IsFloat(type.type)) {
    return absl::UnimplementedError("Gaudi has no kernel for convolutions of integers; cast them to float32");
  }
  const int64_t spatial_rank = instruction.window().dimensions_size();
  if (spatial_rank > kMaxSpatialRank) {
    return absl::UnimplementedError(absl::StrCat("Gaudi has no kernel for convolutions of ", spatial_rank,
                                                 " spatial dimensions; the maximum is ", kMaxSpatialRank));
  }
  for (const HloInstruction* operand : instruction.operands()) {
    if (!xla::ShapeUtil::IsZeroElementArray(operand->shape())) continue;
    HPU_ASSIGN_OR_RETURN(const TensorId zero, Scalar(builder, type.type, 0, type.sizes.size()));
    lowering.SetBroadcastable(instruction, zero);  // sums of no elements
    return absl::OkStatus();
  }
  std::optional<hlo::Convolution> described = hlo::DescribeConvolution(&instruction);
  const HloInstruction* a = described.has_value() ? described->lhs.value : instruction.operand(0);
  const HloInstruction* b = described.has_value() ? described->rhs.value : instruction.operand(1);
  TensorId lhs{}, rhs{}, result{};
  HPU_RETURN_IF_ERROR(ReadOperands(lowering, a, b, type.type, &lhs, &rhs));
  if (described.has_value()) {
    HPU_ASSIGN_OR_RETURN(result, LowerDescribed(builder, *described, type.type, lhs, rhs));
  } else if (spatial_rank == 0) {
    HPU_ASSIGN_OR_RETURN(result, LowerWithoutWindow(lowering, instruction, lhs, rhs, type.type));
  } else {
    HPU_ASSIGN_OR_RETURN(const PlainConvolution plain, MakePlain(builder, instruction, lhs, rhs));
    described = hlo::DescribeConvolution(plain.convolution.get());
    if (!described.has_value()) {
      return absl::UnimplementedError(
          "Gaudi has no kernel for this convolution, even without its padding, input dilation and window reversal");
    }
    HPU_ASSIGN_OR_RETURN(result, LowerDescribed(builder, *described, type.type, plain.lhs, plain.rhs));
  }
  lowering.Set(instruction, result);
  return absl::OkStatus();
}

}  // namespace

void AddConvolutions(LowerTable* table) { (*table)[HloOpcode::kConvolution] = LowerConvolution; }

}  // namespace hpu::gaudi
