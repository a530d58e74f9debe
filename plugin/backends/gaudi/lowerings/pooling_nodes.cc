#include "plugin/backends/gaudi/lowerings/pooling_nodes.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "plugin/backends/gaudi/plan/element_types.h"
#include "plugin/backends/gaudi/plan/nodes.h"
#include "plugin/backends/gaudi/synapse/params.h"
#include "plugin/base/status_macros.h"
#include "xla/permutation_util.h"

namespace hpu::gaudi {
namespace {

using hlo::Pooling;
using hlo::WindowDimension;

constexpr int64_t kMaxIndexU8 = 256;  // maximum number of elements of a window for indices of one byte

int64_t WindowElements(const Pooling& pooling) {
  int64_t elements = 1;
  for (const WindowDimension& d : pooling.dimensions) elements *= d.window;
  return elements;
}

// Whether each window holds an element of the input.
bool HasNoEmptyWindow(const WindowDimension& d) {
  for (int64_t o = 0; o < d.output; ++o) {
    bool is_empty = true;
    for (int64_t k = 0; k < d.window && is_empty; ++k) {
      const int64_t i = o * d.stride + k * d.dilation - d.pad_low;
      is_empty = i < 0 || i >= d.input;
    }
    if (is_empty) return false;
  }
  return true;
}

// Sets the params that ns_SpatialReduction and ns_AveragePooling share.
template <typename Params>
Params WindowParams(const Pooling& pooling) {
  Params params = {};
  const WindowDimension& width = pooling.dimensions.back();
  const WindowDimension height = pooling.dimensions.size() == 2 ? pooling.dimensions.front() : WindowDimension{};
  params.pad_w_begin = static_cast<int32_t>(width.pad_low);
  params.pad_w_end = static_cast<int32_t>(std::max<int64_t>(width.pad_high, 0));
  params.pad_h_begin = static_cast<int32_t>(height.pad_low);
  params.pad_h_end = static_cast<int32_t>(std::max<int64_t>(height.pad_high, 0));
  params.kernel_w = static_cast<int32_t>(width.window);
  params.kernel_h = static_cast<int32_t>(height.window);
  params.stride_w = static_cast<int32_t>(width.stride);
  params.stride_h = static_cast<int32_t>(height.stride);
  params.dilation_w = static_cast<int32_t>(width.dilation);
  params.dilation_h = static_cast<int32_t>(height.dilation);
  params.pooling_convention = synapse::POOLING_CONVENTION_VALID;
  return params;
}

// The kernels compute means over all elements of a window, including padding.
std::string MeanParams(const Pooling& pooling) {
  auto params = WindowParams<synapse::ns_AveragePooling::Params>(pooling);
  params.includePadding = 1;
  return ParamsBytes(params);
}

// x, an image or its windows, as {C,W,H,N}.
absl::StatusOr<TensorId> ToKernelOrder(PlanBuilder& builder, const Pooling& pooling, TensorId x) {
  HPU_ASSIGN_OR_RETURN(x, HloTranspose(builder, x, pooling.permutation));
  Sizes sizes = builder.sizes(x);
  if (pooling.dimensions.size() == 1) sizes.insert(sizes.begin() + 2, 1);
  return Reshape(builder, x, sizes);
}

absl::StatusOr<TensorId> FromKernelOrder(PlanBuilder& builder, const Pooling& pooling, TensorId x) {
  Sizes sizes = builder.sizes(x);
  if (pooling.dimensions.size() == 1) sizes.erase(sizes.begin() + 2);
  HPU_ASSIGN_OR_RETURN(x, Reshape(builder, x, sizes));
  return HloTranspose(builder, x, xla::InversePermutation(pooling.permutation));
}

// Sizes of the windows, or with `of_image` sizes of the image, in kernel order. `like`: sizes of the other array.
Sizes OtherSizes(const Pooling& pooling, const Sizes& like, bool of_image) {
  Sizes sizes = like;
  for (size_t i = 0; i < pooling.dimensions.size(); ++i) {
    const WindowDimension& d = pooling.dimensions[pooling.dimensions.size() - 1 - i];
    sizes[1 + i] = of_image ? d.input : d.output;
  }
  return sizes;
}

struct MaxPool {
  TensorId indices, values;
};

// Adds a max pooling of an image in kernel order.
absl::StatusOr<MaxPool> AddMaxPool(PlanBuilder& builder, const Pooling& pooling, TensorId image) {
  const synapse::synDataType type = builder.type(image);
  const synapse::synDataType index_type = BytesOf(type) == 2 ? synapse::syn_type_int16 : synapse::syn_type_uint8;
  const Sizes sizes = OtherSizes(pooling, builder.sizes(image), /*of_image=*/false);
  const std::string params = ParamsBytes(WindowParams<synapse::ns_SpatialReduction::Params>(pooling));
  HPU_ASSIGN_OR_RETURN(
      const std::vector<TensorId> results,
      builder.AddNode(GuidOf("maxpool_2d_fwd", type), {image}, {{index_type, sizes}, {type, sizes}}, params));
  return MaxPool{results[0], results[1]};
}

bool WindowsOverlap(const Pooling& pooling) {
  return absl::c_any_of(pooling.dimensions,
                        [](const WindowDimension& d) { return (d.window - 1) * d.dilation >= d.stride; });
}

// For each element of a dimension, whether it is the first element of a window, ignoring padding.
std::vector<bool> FirstPooledElements(const WindowDimension& d) {
  std::vector<bool> is_first(d.input, false);
  for (int64_t o = 0; o < d.output; ++o) {
    int64_t i = o * d.stride - d.pad_low;
    while (i < 0) i += d.dilation;
    is_first[i] = true;
  }
  return is_first;
}

// Replaces the NaN of an image in kernel order, so that the kernel chooses as hlo::MaxSelection::kNotLess does. NaN
// wins only as the first element of its window: there it becomes infinity, elsewhere -infinity. If windows overlap, the
// first element of one window may be a later element of another, so every NaN becomes -infinity.
absl::StatusOr<TensorId> WithoutNan(PlanBuilder& builder, const Pooling& pooling, TensorId image) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  HPU_ASSIGN_OR_RETURN(const TensorId is_number, Compare(builder, "equal_fwd", image, image));
  HPU_ASSIGN_OR_RETURN(TensorId bound, ScalarLike(builder, image, -kInfinity));
  if (!WindowsOverlap(pooling)) {
    HPU_ASSIGN_OR_RETURN(const TensorId largest, ScalarLike(builder, image, kInfinity));
    HPU_ASSIGN_OR_RETURN(TensorId is_first, IntegerScalar(builder, synapse::syn_type_int8, 1, 4));
    for (size_t i = 0; i < pooling.dimensions.size(); ++i) {
      const WindowDimension& d = pooling.dimensions[pooling.dimensions.size() - 1 - i];
      const std::vector<bool> first = FirstPooledElements(d);
      Sizes sizes(4, 1);
      sizes[1 + i] = d.input;
      HPU_ASSIGN_OR_RETURN(const TensorId along, builder.AddConstant({synapse::syn_type_int8, sizes},
                                                                     std::string(first.begin(), first.end())));
      HPU_ASSIGN_OR_RETURN(is_first, Elementwise(builder, "bitwise_and_fwd", {is_first, along}));
    }
    HPU_ASSIGN_OR_RETURN(bound, Where(builder, is_first, largest, bound));
  }
  return Where(builder, is_number, image, bound);
}

// x multiplied by the number of elements of a window.
absl::StatusOr<TensorId> TimesWindow(PlanBuilder& builder, const Pooling& pooling, TensorId x) {
  HPU_ASSIGN_OR_RETURN(const TensorId elements, ScalarLike(builder, x, static_cast<double>(WindowElements(pooling))));
  return Elementwise(builder, "mult_fwd", {x, elements});
}

}  // namespace

bool HasPoolingKernels(const Pooling& pooling, synapse::synDataType type) {
  if (pooling.dimensions.size() > 2 || !IsFloat(type) || WindowElements(pooling) > kMaxIndexU8) return false;
  return absl::c_all_of(pooling.dimensions, [](const WindowDimension& d) {
    // Windows may leave out fewer elements at the end than the stride.
    return d.pad_low >= 0 && d.pad_high > -d.stride && HasNoEmptyWindow(d);
  });
}

absl::StatusOr<TensorId> MaxPoolNode(PlanBuilder& builder, const Pooling& pooling, TensorId image) {
  HPU_ASSIGN_OR_RETURN(image, ToKernelOrder(builder, pooling, image));
  HPU_ASSIGN_OR_RETURN(const MaxPool pool, AddMaxPool(builder, pooling, image));
  return FromKernelOrder(builder, pooling, pool.values);
}

absl::StatusOr<TensorId> MaxPoolGradientNodes(PlanBuilder& builder, const hlo::MaxPoolingGradient& scatter,
                                              TensorId image, TensorId gradient) {
  const Pooling& pooling = scatter.pooling;
  const synapse::synDataType type = builder.type(image);
  if (WindowsOverlap(pooling)) {
    // Gradients are summed, and sums of bfloat16 lose their low bits.
    HPU_ASSIGN_OR_RETURN(image, Cast(builder, image, synapse::syn_type_float));
    HPU_ASSIGN_OR_RETURN(gradient, Cast(builder, gradient, synapse::syn_type_float));
  }
  HPU_ASSIGN_OR_RETURN(image, ToKernelOrder(builder, pooling, image));
  HPU_ASSIGN_OR_RETURN(gradient, ToKernelOrder(builder, pooling, gradient));
  if (scatter.selection == hlo::MaxSelection::kNotLess) {
    HPU_ASSIGN_OR_RETURN(image, WithoutNan(builder, pooling, image));
  }
  HPU_ASSIGN_OR_RETURN(const MaxPool pool, AddMaxPool(builder, pooling, image));
  HPU_ASSIGN_OR_RETURN(
      TensorId result,
      builder.AddTyped("maxpool_2d_bwd", builder.type(gradient), {gradient, pool.indices}, builder.tensor_type(image),
                       ParamsBytes(WindowParams<synapse::ns_SpatialReduction::Params>(pooling))));
  HPU_ASSIGN_OR_RETURN(result, FromKernelOrder(builder, pooling, result));
  return Cast(builder, result, type);
}

absl::StatusOr<TensorId> SumPoolNodes(PlanBuilder& builder, const Pooling& pooling, TensorId image) {
  const synapse::synDataType type = builder.type(image);
  HPU_ASSIGN_OR_RETURN(TensorId x, Cast(builder, image, synapse::syn_type_float));
  HPU_ASSIGN_OR_RETURN(x, ToKernelOrder(builder, pooling, x));
  const Sizes sizes = OtherSizes(pooling, builder.sizes(x), /*of_image=*/false);
  HPU_ASSIGN_OR_RETURN(
      x, builder.AddTyped("avg_pool_2d_fwd", builder.type(x), {x}, {builder.type(x), sizes}, MeanParams(pooling)));
  HPU_ASSIGN_OR_RETURN(x, TimesWindow(builder, pooling, x));
  HPU_ASSIGN_OR_RETURN(x, FromKernelOrder(builder, pooling, x));
  return Cast(builder, x, type);
}

absl::StatusOr<TensorId> SumPoolGradientNodes(PlanBuilder& builder, const Pooling& pooling, TensorId gradient) {
  const synapse::synDataType type = builder.type(gradient);
  HPU_ASSIGN_OR_RETURN(TensorId x, Cast(builder, gradient, synapse::syn_type_float));
  HPU_ASSIGN_OR_RETURN(x, ToKernelOrder(builder, pooling, x));
  HPU_ASSIGN_OR_RETURN(x, TimesWindow(builder, pooling, x));
  const Sizes sizes = OtherSizes(pooling, builder.sizes(x), /*of_image=*/true);
  HPU_ASSIGN_OR_RETURN(
      x, builder.AddTyped("avg_pool_2d_bwd", builder.type(x), {x}, {builder.type(x), sizes}, MeanParams(pooling)));
  HPU_ASSIGN_OR_RETURN(x, FromKernelOrder(builder, pooling, x));
  return Cast(builder, x, type);
}

}  // namespace hpu::gaudi
