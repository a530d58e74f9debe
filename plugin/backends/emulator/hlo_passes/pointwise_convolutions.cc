#include "plugin/backends/emulator/hlo_passes/pointwise_convolutions.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "plugin/backends/common/hlo/instructions.h"
#include "plugin/backends/emulator/hlo_passes/kernel_calls.h"
#include "plugin/backends/emulator/hlo_passes/matmul_pass.h"
#include "plugin/base/status_macros.h"
#include "xla/service/hlo_creation_utils.h"
#include "xla/shape_util.h"

namespace hpu::emulator {
namespace {

using xla::HloInstruction;

// Extent of the window in all spatial dimensions.
enum class Window { kOneElement, kWholeInput, kOther };

Window WindowOf(const HloInstruction& convolution) {
  const auto& numbers = convolution.convolution_dimension_numbers();
  bool one = true, whole = true;
  for (int64_t i = 0; i < numbers.input_spatial_dimensions_size(); ++i) {
    const xla::WindowDimension& d = convolution.window().dimensions(i);
    if (d.stride() != 1 || d.window_dilation() != 1 || d.base_dilation() != 1 || d.padding_low() != 0 ||
        d.padding_high() != 0 || d.window_reversal()) {
      return Window::kOther;
    }
    one = one && d.size() == 1;
    whole = whole && d.size() == convolution.operand(0)->shape().dimensions(numbers.input_spatial_dimensions(i));
  }
  // A 1x1 input with a 1x1 window satisfies both conditions. Selects the value whose dot needs no transpose:
  // kWholeInput for a filter gradient, else kOneElement.
  if (one && (!whole || numbers.output_batch_dimension() == 0)) return Window::kOneElement;
  return whole ? Window::kWholeInput : Window::kOther;
}

// The filter without a reversal of dimensions that have one element; such a reversal has no effect.
HloInstruction* Unreversed(HloInstruction* filter) {
  HloInstruction* source = hlo::SourceOf(filter);
  if (source->opcode() != xla::HloOpcode::kReverse) return filter;
  const auto has_order = [source](int64_t dimension) { return source->shape().dimensions(dimension) != 1; };
  return std::any_of(source->dimensions().begin(), source->dimensions().end(), has_order) ? filter
                                                                                          : source->mutable_operand(0);
}

bool IsProductWorthIt(const HloInstruction& convolution, const std::vector<std::pair<int64_t, int64_t>>& contracted) {
  const xla::Shape &input = convolution.operand(0)->shape(), &filter = convolution.operand(1)->shape();
  MatMul product;
  product.bfloat16 = input.element_type() == xla::BF16;
  for (const auto& [of_input, of_filter] : contracted) product.inner *= input.dimensions(of_input);
  product.rows = xla::ShapeUtil::ElementsIn(input) / product.inner;
  product.columns = xla::ShapeUtil::ElementsIn(filter) / product.inner;
  return IsWorthAKernel(product);
}

// Returns a dot that computes the convolution: [batch, spatial dimensions (unless contracted), features], reshaped to
// the convolution's shape. Null if the window or the order of the dimensions does not allow it, or if the product is
// too small for a kernel.
absl::StatusOr<HloInstruction*> ProductOf(HloInstruction* convolution) {
  const Window window = WindowOf(*convolution);
  if (window == Window::kOther || convolution->feature_group_count() != 1 || convolution->batch_group_count() != 1 ||
      !hlo::IsFloatArray(convolution->shape()) || !hlo::IsFloatArray(convolution->operand(0)->shape())) {
    return nullptr;
  }
  const auto& numbers = convolution->convolution_dimension_numbers();
  std::vector<std::pair<int64_t, int64_t>> contracted = {
      {numbers.input_feature_dimension(), numbers.kernel_input_feature_dimension()}};
  std::vector<int64_t> kept = {numbers.input_batch_dimension()}, result = {numbers.output_batch_dimension()};
  for (int64_t i = 0; i < numbers.input_spatial_dimensions_size(); ++i) {
    if (window == Window::kWholeInput) {
      contracted.emplace_back(numbers.input_spatial_dimensions(i), numbers.kernel_spatial_dimensions(i));
    } else {
      kept.push_back(numbers.input_spatial_dimensions(i));
      result.push_back(numbers.output_spatial_dimensions(i));
    }
  }
  result.push_back(numbers.output_feature_dimension());
  if (!std::is_sorted(kept.begin(), kept.end()) || !std::is_sorted(result.begin(), result.end())) return nullptr;
  if (!IsProductWorthIt(*convolution, contracted)) return nullptr;
  std::sort(contracted.begin(), contracted.end());

  HloInstruction* filter = convolution->mutable_operand(1);
  xla::DotDimensionNumbers product;
  for (const auto& [of_input, of_filter] : contracted) {
    product.add_lhs_contracting_dimensions(of_input);
    product.add_rhs_contracting_dimensions(of_filter);
  }
  if (window == Window::kOneElement) {
    // Removes the filter's spatial dimensions, which have one element.
    filter = Unreversed(filter);
    const int64_t in = numbers.kernel_input_feature_dimension(), out = numbers.kernel_output_feature_dimension();
    std::vector<int64_t> dims = {filter->shape().dimensions(std::min(in, out)),
                                 filter->shape().dimensions(std::max(in, out))};
    HPU_ASSIGN_OR_RETURN(filter, xla::MakeReshapeHlo(dims, filter));
    product.set_rhs_contracting_dimensions(0, in < out ? 0 : 1);
  }
  HPU_ASSIGN_OR_RETURN(HloInstruction * dot,
                       xla::MakeDotHlo(convolution->mutable_operand(0), filter, product,
                                       convolution->precision_config(), convolution->shape().element_type()));
  return xla::MakeReshapeHlo(convolution->shape(), dot);
}

}  // namespace

absl::Status MakeProductsOfPointwiseConvolutions(xla::HloModule* module) {
  return ReplaceAll(module, xla::HloOpcode::kConvolution, ProductOf);
}

}  // namespace hpu::emulator
