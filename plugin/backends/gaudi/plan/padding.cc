#include "plugin/backends/gaudi/plan/padding.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "plugin/backends/gaudi/plan/element_types.h"
#include "plugin/backends/gaudi/plan/nodes.h"
#include "plugin/backends/gaudi/synapse/params.h"
#include "plugin/base/status_macros.h"

namespace hpu::gaudi {
namespace {

constexpr size_t kMaxPadRank = 5;  // of pad_fwd

// Whether the padding only surrounds the array: no cropping and no interior padding.
bool IsAround(const Padding& padding) {
  for (size_t d = 0; d < padding.low.size(); ++d) {
    if (padding.low[d] < 0 || padding.high[d] < 0 || padding.steps[d] != 1) return false;
  }
  return true;
}

bool IsNone(const Padding& padding) {
  const auto is_zero = [](int64_t pad) { return pad == 0; };
  return IsAround(padding) && std::all_of(padding.low.begin(), padding.low.end(), is_zero) &&
         std::all_of(padding.high.begin(), padding.high.end(), is_zero);
}

bool IsByKernel(const PlanBuilder& builder, TensorId x, const Padding& padding) {
  const synapse::synDataType type = builder.type(x);
  const bool is_wide = BytesOf(type) > sizeof(int32_t);  // wider than the kernel's value
  return IsAround(padding) && padding.low.size() <= kMaxPadRank && !is_wide && builder.Has("pad_fwd", type);
}

absl::StatusOr<TensorId> PadByKernel(PlanBuilder& builder, TensorId x, synapse::fint_t value, const Padding& padding) {
  synapse::ns_PadKernel::Params params = {};
  params.value = value;
  Sizes sizes = builder.sizes(x);
  for (size_t d = 0; d < sizes.size(); ++d) {
    params.pads[d] = static_cast<uint32_t>(padding.low[d]);
    params.pads[d + kMaxPadRank] = static_cast<uint32_t>(padding.high[d]);
    sizes[d] += padding.low[d] + padding.high[d];
  }
  return builder.AddTyped("pad_fwd", builder.type(x), {x}, {builder.type(x), sizes}, ParamsBytes(params));
}

// Pads one dimension at a time, so that no node has more than three dimensions.
template <typename Value>
absl::StatusOr<TensorId> PadEachDimension(PlanBuilder& builder, TensorId x, const Value& value,
                                          const Padding& padding) {
  Sizes sizes = builder.sizes(x);
  for (size_t d = 0; d < sizes.size(); ++d) {
    Padding middle(3);
    middle.low[1] = padding.low[d];
    middle.high[1] = padding.high[d];
    middle.steps[1] = padding.steps[d];
    if (IsNone(middle)) continue;
    const auto at = sizes.begin() + static_cast<std::ptrdiff_t>(d);
    const Sizes three = {ElementCount(Sizes(sizes.begin(), at)), sizes[d], ElementCount(Sizes(at + 1, sizes.end()))};
    HPU_ASSIGN_OR_RETURN(x, Reshape(builder, x, three));
    HPU_ASSIGN_OR_RETURN(x, Pad(builder, x, value, middle));
    sizes[d] = builder.sizes(x)[1];
  }
  return Reshape(builder, x, sizes);
}

}  // namespace

absl::StatusOr<TensorId> Pad(PlanBuilder& builder, TensorId x, const xla::Literal& value, const Padding& padding) {
  if (IsNone(padding)) return x;
  if (builder.HasTooManyDimensions(builder.sizes(x))) return PadEachDimension(builder, x, value, padding);
  if (IsByKernel(builder, x, padding)) {
    synapse::fint_t number;
    if (IsFloat(builder.type(x))) {
      number.f = static_cast<float>(value.GetAsDouble({}).value_or(0));
    } else {
      number.i = static_cast<int32_t>(value.GetIntegralAsS64({}).value_or(0));
    }
    return PadByKernel(builder, x, number, padding);
  }
  std::string data(static_cast<const char*>(value.untyped_data()), value.size_bytes());
  HPU_ASSIGN_OR_RETURN(const TensorId scalar, builder.AddConstant({builder.type(x), {1}}, std::move(data)));
  return Pad(builder, x, scalar, padding);
}

absl::StatusOr<TensorId> PadWithZeros(PlanBuilder& builder, TensorId x, const Padding& padding) {
  if (IsNone(padding)) return x;
  if (IsByKernel(builder, x, padding)) return PadByKernel(builder, x, {}, padding);
  HPU_ASSIGN_OR_RETURN(const TensorId zero, Scalar(builder, builder.type(x), 0, 1));
  return Pad(builder, x, zero, padding);
}

// Inserts x into an array of `value` with the positive pads. Then crops by the negative pads.
absl::StatusOr<TensorId> Pad(PlanBuilder& builder, TensorId x, TensorId value, const Padding& padding) {
  if (IsNone(padding)) return x;
  if (builder.HasTooManyDimensions(builder.sizes(x))) return PadEachDimension(builder, x, value, padding);
  Sizes sizes;
  std::vector<uint64_t> starts, cut_starts, cut_ends;
  for (size_t d = 0; d < padding.low.size(); ++d) {
    const uint64_t inner = (builder.sizes(x)[d] - 1) * padding.steps[d] + 1;
    starts.push_back(std::max<int64_t>(padding.low[d], 0));
    sizes.push_back(starts.back() + inner + std::max<int64_t>(padding.high[d], 0));
    cut_starts.push_back(std::max<int64_t>(-padding.low[d], 0));
    cut_ends.push_back(sizes.back() - std::max<int64_t>(-padding.high[d], 0));
  }
  TensorId padded = x;
  if (sizes != builder.sizes(x)) {
    HPU_ASSIGN_OR_RETURN(const TensorId background, Splat(builder, value, sizes));
    HPU_ASSIGN_OR_RETURN(padded, SliceInsert(builder, background, x, starts, padding.steps));
  }
  return Slice(builder, padded, cut_starts, cut_ends, std::vector<uint64_t>(sizes.size(), 1));
}

}  // namespace hpu::gaudi
