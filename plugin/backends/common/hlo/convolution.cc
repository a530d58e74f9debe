#include "plugin/backends/common/hlo/convolution.h"

#include <algorithm>
#include <initializer_list>
#include <tuple>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/types/span.h"
#include "plugin/backends/common/hlo/instructions.h"
#include "xla/hlo/ir/hlo_opcode.h"
#include "xla/permutation_util.h"
#include "xla/xla_data.pb.h"

namespace hpu::hlo {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;
using Kind = Convolution::Kind;
using Reversal = Convolution::Reversal;

constexpr int64_t kMaxSpatialRank = 3;

// Dimensions of the transpose to [before, spatial…, after].
std::vector<int64_t> Around(std::initializer_list<int64_t> before, absl::Span<const int64_t> spatial,
                            std::initializer_list<int64_t> after) {
  std::vector<int64_t> order(before);
  order.insert(order.end(), spatial.begin(), spatial.end());
  order.insert(order.end(), after);
  return order;
}

bool HasWindow(const xla::Window& window, bool (*is)(const xla::WindowDimension&)) {
  return absl::c_any_of(window.dimensions(), is);
}

// The order of the kernel: window, input features, output features.
std::vector<int64_t> KernelOrder(const xla::ConvolutionDimensionNumbers& numbers) {
  return Around({}, numbers.kernel_spatial_dimensions(),
                {numbers.kernel_input_feature_dimension(), numbers.kernel_output_feature_dimension()});
}

// Whether the result has a filter's canonical order. tf2xla emits this order only for gradients of filters.
bool HasFilterOrder(const xla::ConvolutionDimensionNumbers& numbers) {
  return xla::IsIdentityPermutation(Around({}, numbers.output_spatial_dimensions(),
                                           {numbers.output_batch_dimension(), numbers.output_feature_dimension()}));
}

// If `kernel` reverses all window dimensions that have several elements, and no feature dimension, returns the
// reversal's operand. Else returns null.
HloInstruction* Unreversed(HloInstruction* kernel, const xla::ConvolutionDimensionNumbers& numbers) {
  HloInstruction* source = SourceOf(kernel);
  if (source->opcode() != HloOpcode::kReverse) return nullptr;
  const auto& window = numbers.kernel_spatial_dimensions();
  const bool only_window =
      absl::c_all_of(source->dimensions(), [&](int64_t dimension) { return absl::c_linear_search(window, dimension); });
  const bool whole_window = absl::c_all_of(window, [&](int64_t dimension) {
    return source->shape().dimensions(dimension) == 1 || absl::c_linear_search(source->dimensions(), dimension);
  });
  return only_window && whole_window ? source->mutable_operand(0) : nullptr;
}

// The kind of a convolution and, for kInputGradient, its reversal.
std::optional<std::pair<Kind, Reversal>> KindOf(const HloInstruction& convolution) {
  const xla::ConvolutionDimensionNumbers& numbers = convolution.convolution_dimension_numbers();
  const xla::Window& window = convolution.window();
  const bool dilated = HasWindow(window, [](const xla::WindowDimension& d) { return d.base_dilation() != 1; });
  const bool strided = HasWindow(window, [](const xla::WindowDimension& d) { return d.stride() != 1; });
  const bool several = HasWindow(window, [](const xla::WindowDimension& d) { return d.size() != 1; });
  if (HasWindow(window, [](const xla::WindowDimension& d) { return d.window_reversal(); })) return std::nullopt;
  if (convolution.batch_group_count() != 1) {
    if (dilated || convolution.feature_group_count() != 1) return std::nullopt;
    return std::pair(Kind::kFilterGradient, Reversal::kNone);
  }
  if (!dilated && convolution.feature_group_count() == 1 && HasFilterOrder(numbers)) {
    return std::pair(Kind::kFilterGradient, Reversal::kNone);
  }
  const int64_t n = window.dimensions_size();
  const std::vector<int64_t> kernel = KernelOrder(numbers);
  std::vector<int64_t> swapped = kernel;
  std::swap(swapped[n], swapped[n + 1]);
  if (!strided) {
    const bool reversed = Unreversed(convolution.operands()[1], numbers) != nullptr;
    if (reversed && (dilated || !xla::IsIdentityPermutation(kernel))) {
      return std::pair(Kind::kInputGradient, Reversal::kRemoved);
    }
    if (!several && (dilated || xla::IsIdentityPermutation(swapped))) {
      return std::pair(Kind::kInputGradient, Reversal::kNone);
    }
    if (dilated) return std::pair(Kind::kInputGradient, Reversal::kNeeded);
  }
  if (dilated) return std::nullopt;
  return std::pair(Kind::kForward, Reversal::kNone);
}

// Sets the high padding with which `d.input` elements yield `d.output` results.
void SetPadHigh(Convolution::Dimension* d) {
  const int64_t lacking = (d->output - 1) * d->stride + (d->window - 1) * d->dilation + 1 - d->input - d->pad_low;
  // Fewer than `stride` surplus elements at the end need no cropping, because they yield no result.
  d->pad_high = lacking < 0 && -lacking < d->stride ? 0 : lacking;
}

// One spatial dimension in terms of the forward direction. `input` and `output` are sizes of the HLO.
Convolution::Dimension DimensionOf(Kind kind, const xla::WindowDimension& window, int64_t input, int64_t output) {
  Convolution::Dimension d;
  switch (kind) {
    case Kind::kForward:
      return {input,
              output,
              window.size(),
              window.stride(),
              window.window_dilation(),
              window.padding_low(),
              window.padding_high()};
    case Kind::kInputGradient:
      d = {output, input, window.size(), window.base_dilation(), window.window_dilation()};
      d.pad_low = (d.window - 1) * d.dilation - window.padding_low();
      break;
    case Kind::kFilterGradient:
      d = {input, window.size(), output, window.window_dilation(), window.stride(), window.padding_low()};
      break;
  }
  SetPadHigh(&d);
  return d;
}

// Sets features, groups, operands and permutations.
void SetOperands(const HloInstruction& convolution, Convolution* c) {
  const xla::ConvolutionDimensionNumbers& n = convolution.convolution_dimension_numbers();
  HloInstruction *const input = convolution.operands()[0], *const kernel = convolution.operands()[1];
  const auto size = [](const HloInstruction& array, int64_t dimension) { return array.shape().dimensions(dimension); };
  const int64_t in_batch = n.input_batch_dimension(), in_feature = n.input_feature_dimension();
  const int64_t kernel_in = n.kernel_input_feature_dimension(), kernel_out = n.kernel_output_feature_dimension();
  const int64_t out_batch = n.output_batch_dimension(), out_feature = n.output_feature_dimension();
  std::vector<int64_t> result = Around({out_batch}, n.output_spatial_dimensions(), {out_feature});
  c->lhs = {input, Around({in_batch}, n.input_spatial_dimensions(), {in_feature})};
  c->rhs = {kernel, Around({}, n.kernel_spatial_dimensions(), {kernel_in, kernel_out})};
  c->batch = size(*input, in_batch);
  c->groups = convolution.feature_group_count();
  switch (c->kind) {
    case Kind::kForward:
      c->input_features = size(*input, in_feature);
      c->output_features = size(convolution, out_feature);
      break;
    case Kind::kInputGradient:
      c->input_features = size(convolution, out_feature);
      c->output_features = size(*input, in_feature);
      std::swap(c->rhs.permutation.end()[-2], c->rhs.permutation.end()[-1]);
      c->groups_in_input_features = c->groups > 1;
      break;
    case Kind::kFilterGradient:
      // The HLO sums over the batch: its features are the batch, its batch is the input features.
      c->batch = size(*input, in_feature);
      c->input_features = size(*input, in_batch);
      c->output_features = size(convolution, out_feature);
      c->groups = convolution.batch_group_count();
      c->lhs.permutation = Around({in_feature}, n.input_spatial_dimensions(), {in_batch});
      c->rhs.permutation = Around({kernel_in}, n.kernel_spatial_dimensions(), {kernel_out});
      result = Around({}, n.output_spatial_dimensions(), {out_batch, out_feature});
      break;
  }
  c->result_permutation = xla::InversePermutation(result);
}

// The canonical filter whose groups tf2xla moved to the input features by a reshape, a transpose and a reshape. Null if
// `filter` is not the result of these instructions.
HloInstruction* Ungrouped(HloInstruction* filter, const Convolution& c) {
  const int64_t n = c.dimensions.size(), features = c.input_features / c.groups;
  HloInstruction* const merge = SourceOf(filter);
  if (merge->opcode() != HloOpcode::kReshape) return nullptr;
  HloInstruction* const transpose = merge->mutable_operand(0);
  if (transpose->opcode() != HloOpcode::kTranspose || transpose->shape().dimensions_size() != n + 3) return nullptr;
  for (int64_t i = 0; i < n + 3; ++i) {
    if (transpose->dimensions(i) != (i == n ? n + 1 : i == n + 1 ? n : i)) return nullptr;
  }
  HloInstruction* const split = transpose->mutable_operand(0);
  if (split->opcode() != HloOpcode::kReshape) return nullptr;
  HloInstruction* const canonical = split->mutable_operand(0);
  std::vector<int64_t> dims, split_dims;
  for (const Convolution::Dimension& d : c.dimensions) dims.push_back(d.window);
  split_dims = dims;
  dims.insert(dims.end(), {features, c.output_features});
  split_dims.insert(split_dims.end(), {features, c.groups, c.output_features / c.groups});
  if (canonical->shape().dimensions() != absl::MakeConstSpan(dims) ||
      split->shape().dimensions() != absl::MakeConstSpan(split_dims)) {
    return nullptr;
  }
  return canonical;
}

}  // namespace

bool Convolution::IsCanonical() const {
  return xla::IsIdentityPermutation(lhs.permutation) && xla::IsIdentityPermutation(rhs.permutation) &&
         xla::IsIdentityPermutation(result_permutation);
}

std::optional<Convolution> DescribeConvolution(const HloInstruction* convolution) {
  if (convolution->opcode() != HloOpcode::kConvolution) return std::nullopt;
  const int64_t spatial_rank = convolution->window().dimensions_size();
  const xla::Shape &input = convolution->operand(0)->shape(), &output = convolution->shape();
  if (spatial_rank == 0 || spatial_rank > kMaxSpatialRank || !IsPlainArray(input) || !IsPlainArray(output) ||
      !IsPlainArray(convolution->operand(1)->shape())) {
    return std::nullopt;
  }
  const std::optional<std::pair<Kind, Reversal>> kind = KindOf(*convolution);
  if (!kind.has_value()) return std::nullopt;
  Convolution c;
  std::tie(c.kind, c.reversal) = *kind;
  SetOperands(*convolution, &c);
  const xla::ConvolutionDimensionNumbers& numbers = convolution->convolution_dimension_numbers();
  for (int64_t i = 0; i < spatial_rank; ++i) {
    c.dimensions.push_back(DimensionOf(c.kind, convolution->window().dimensions(i),
                                       input.dimensions(numbers.input_spatial_dimensions(i)),
                                       output.dimensions(numbers.output_spatial_dimensions(i))));
  }
  if (c.reversal == Reversal::kRemoved) c.rhs.value = Unreversed(c.rhs.value, numbers);
  if (c.groups_in_input_features && xla::IsIdentityPermutation(c.rhs.permutation)) {
    if (HloInstruction* const canonical = Ungrouped(c.rhs.value, c); canonical != nullptr) {
      c.rhs.value = canonical;
      c.groups_in_input_features = false;
    }
  }
  return c;
}

}  // namespace hpu::hlo
