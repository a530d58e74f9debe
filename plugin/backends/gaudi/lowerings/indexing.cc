#include "plugin/backends/gaudi/lowerings/indexing.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "plugin/backends/gaudi/plan/element_types.h"
#include "plugin/backends/gaudi/plan/nodes.h"
#include "plugin/backends/gaudi/plan/wide_integers.h"
#include "plugin/backends/gaudi/synapse/params.h"
#include "plugin/base/status_macros.h"
#include "xla/primitive_util.h"

namespace hpu::gaudi {
namespace {

constexpr synapse::synDataType kIndex = synapse::syn_type_int32;
constexpr int64_t kMaxIndex = std::numeric_limits<int32_t>::max();
constexpr int64_t kMaxRows = kMaxIndex - 1;  // scatters add a row

// 64-bit integers as i32, clamped to i32's range. An integer fits if its high half equals the sign of its low half.
absl::StatusOr<TensorId> NarrowIndex(PlanBuilder& builder, TensorId x) {
  const Sizes sizes = builder.sizes(x);
  HPU_ASSIGN_OR_RETURN(const Halves halves, Split(builder, x));
  const size_t rank = sizes.size();
  HPU_ASSIGN_OR_RETURN(const TensorId largest, IntegerScalar(builder, kIndex, kMaxIndex, rank));
  HPU_ASSIGN_OR_RETURN(const TensorId smallest, IntegerScalar(builder, kIndex, -kMaxIndex - 1, rank));
  HPU_ASSIGN_OR_RETURN(const TensorId zero, IntegerScalar(builder, kIndex, 0, rank));
  HPU_ASSIGN_OR_RETURN(const TensorId sign, ShiftBy(builder, halves.low, 31, /*left=*/false));
  HPU_ASSIGN_OR_RETURN(const TensorId is_narrow, Compare(builder, "equal_fwd", halves.high, sign));
  HPU_ASSIGN_OR_RETURN(const TensorId is_negative, Compare(builder, "less_fwd", halves.high, zero));
  HPU_ASSIGN_OR_RETURN(const TensorId bound, Where(builder, is_negative, smallest, largest));
  HPU_ASSIGN_OR_RETURN(const TensorId value, Where(builder, is_narrow, halves.low, bound));
  return Broadcast(builder, value, sizes);
}

}  // namespace

absl::StatusOr<TensorId> AsMovable(PlanBuilder& builder, TensorId x) {
  const synapse::synDataType type = builder.type(x);
  if (builder.Has("gather_fwd", type)) return x;
  if (BytesOf(type) == 2) return Reinterpret(builder, x, synapse::syn_type_int16);
  TensorType result = {kIndex, builder.sizes(x)};
  result.sizes.front() *= BytesOf(type) / BytesOf(kIndex);
  return builder.Add("reinterpret_cast", {x}, result);
}

absl::StatusOr<TensorId> FromMovable(PlanBuilder& builder, TensorId x, synapse::synDataType type) {
  if (builder.type(x) == type) return x;
  TensorType result = {type, builder.sizes(x)};
  result.sizes.front() = result.sizes.front() * BytesOf(builder.type(x)) / BytesOf(type);
  return builder.Add("reinterpret_cast", {x}, result);
}

absl::StatusOr<TensorId> GatherRows(PlanBuilder& builder, TensorId x, TensorId indices) {
  return GatherAlong(builder, x, 1, indices);
}

absl::StatusOr<TensorId> GatherAlong(PlanBuilder& builder, TensorId x, size_t axis, TensorId indices) {
  const synapse::synDataType type = builder.type(x);
  Sizes sizes = builder.sizes(x);
  const uint64_t size = sizes[axis];
  // The row dimension comes first, because AsMovable may change its size.
  const auto at = sizes.begin() + static_cast<std::ptrdiff_t>(axis);
  const Sizes three = {ElementCount(Sizes(sizes.begin(), at)), size, ElementCount(Sizes(at + 1, sizes.end()))};
  HPU_ASSIGN_OR_RETURN(x, Reshape(builder, x, three));
  HPU_ASSIGN_OR_RETURN(x, AsMovable(builder, x));
  TensorType result = builder.tensor_type(x);
  result.sizes[1] = ElementCount(builder.sizes(indices));
  synapse::ns_GatherKernel::ParamsV2 params = {};  // the version of recorded graphs
  params.axis = 1;
  HPU_ASSIGN_OR_RETURN(TensorId value,
                       builder.AddTyped("gather_fwd", builder.type(x), {x, indices}, result, ParamsBytes(params)));
  HPU_ASSIGN_OR_RETURN(value, FromMovable(builder, value, type));
  sizes[axis] = result.sizes[1];
  return Reshape(builder, value, sizes);
}

absl::StatusOr<TensorId> ReplaceRows(PlanBuilder& builder, TensorId x, TensorId indices, TensorId updates) {
  const synapse::synDataType type = builder.type(x);
  HPU_ASSIGN_OR_RETURN(x, AsMovable(builder, x));
  HPU_ASSIGN_OR_RETURN(updates, AsMovable(builder, updates));
  HPU_ASSIGN_OR_RETURN(const TensorId rows, Reshape(builder, indices, {1, ElementCount(builder.sizes(indices))}));
  HPU_ASSIGN_OR_RETURN(const TensorId value, builder.AddTyped("scatter_nd_onnx_fwd", builder.type(x),
                                                              {x, rows, updates}, builder.tensor_type(x)));
  return FromMovable(builder, value, type);
}

absl::StatusOr<TensorId> SumRows(PlanBuilder& builder, TensorId updates, TensorId segments, uint64_t rows) {
  synapse::ns_UnsortedSegmentSum::Params params = {};
  params.numSegments = static_cast<int32_t>(rows);
  return builder.AddTyped("unsorted_segment_sum_fwd", builder.type(updates), {updates, segments},
                          {builder.type(updates), {builder.sizes(updates)[0], rows}}, ParamsBytes(params));
}

absl::StatusOr<TensorId> GatherElements(PlanBuilder& builder, TensorId x, TensorId indices) {
  const Sizes sizes = builder.sizes(indices);
  const uint64_t columns = builder.sizes(x)[0];
  if (builder.Has("gather_elements_fwd", builder.type(x))) {
    synapse::ns_GatherElementsKernel::Params params = {};
    params.axis = 0;
    return builder.AddTyped("gather_elements_fwd", builder.type(x), {x, indices}, {builder.type(x), sizes},
                            ParamsBytes(params));
  }
  // Elements of other types are rows of an array of one column.
  HPU_ASSIGN_OR_RETURN(TensorId offset, Range(builder, sizes[1]));
  HPU_ASSIGN_OR_RETURN(offset, Reshape(builder, offset, {1, sizes[1]}));
  HPU_ASSIGN_OR_RETURN(offset, MultiplyNumber(builder, offset, static_cast<int64_t>(columns)));
  HPU_ASSIGN_OR_RETURN(TensorId rows, Elementwise(builder, "add_fwd", {indices, offset}));
  HPU_ASSIGN_OR_RETURN(rows, Reshape(builder, rows, {ElementCount(sizes)}));
  HPU_ASSIGN_OR_RETURN(x, Reshape(builder, x, {1, ElementCount(builder.sizes(x))}));
  HPU_ASSIGN_OR_RETURN(const TensorId value, GatherRows(builder, x, rows));
  return Reshape(builder, value, sizes);
}

absl::StatusOr<TensorId> ToIndex(PlanBuilder& builder, TensorId x, xla::PrimitiveType type) {
  const bool is_unsigned = xla::primitive_util::IsUnsignedIntegralType(type);
  switch (xla::primitive_util::BitWidth(type)) {
    case 64:
      return NarrowIndex(builder, x);
    case 32: {
      if (!is_unsigned) return x;
      HPU_ASSIGN_OR_RETURN(const TensorId zero, ScalarLike(builder, x, 0));
      HPU_ASSIGN_OR_RETURN(const TensorId largest, ScalarLike(builder, x, kMaxIndex));
      HPU_ASSIGN_OR_RETURN(const TensorId is_large, Compare(builder, "less_fwd", x, zero));
      return Where(builder, is_large, largest, x);
    }
    case 16: {
      if (!is_unsigned) return Cast(builder, x, kIndex);
      HPU_ASSIGN_OR_RETURN(x, Reinterpret(builder, x, synapse::syn_type_int16));
      HPU_ASSIGN_OR_RETURN(x, Cast(builder, x, kIndex));
      HPU_ASSIGN_OR_RETURN(const TensorId mask, IntegerScalar(builder, kIndex, 0xffff, builder.sizes(x).size()));
      return Elementwise(builder, "bitwise_and_fwd", {x, mask});
    }
    default:
      return Cast(builder, x, kIndex);
  }
}

absl::StatusOr<TensorId> ClampIndex(PlanBuilder& builder, TensorId index, int64_t last) {
  HPU_ASSIGN_OR_RETURN(const TensorId low, ScalarLike(builder, index, 0));
  HPU_ASSIGN_OR_RETURN(const TensorId high, IntegerScalar(builder, kIndex, last, builder.sizes(index).size()));
  HPU_ASSIGN_OR_RETURN(const TensorId raised, Elementwise(builder, "max_fwd", {index, low}));
  return Elementwise(builder, "min_fwd", {raised, high});
}

absl::StatusOr<TensorId> IsIndex(PlanBuilder& builder, TensorId index, int64_t last) {
  HPU_ASSIGN_OR_RETURN(const TensorId low, ScalarLike(builder, index, 0));
  HPU_ASSIGN_OR_RETURN(const TensorId high, IntegerScalar(builder, kIndex, last, builder.sizes(index).size()));
  HPU_ASSIGN_OR_RETURN(const TensorId is_above, Compare(builder, "greater_equal_fwd", index, low));
  HPU_ASSIGN_OR_RETURN(const TensorId is_below, Compare(builder, "less_equal_fwd", index, high));
  return Elementwise(builder, "bitwise_and_fwd", {is_above, is_below});
}

absl::StatusOr<TensorId> AddNumber(PlanBuilder& builder, TensorId x, int64_t number) {
  if (number == 0) return x;
  HPU_ASSIGN_OR_RETURN(const TensorId scalar, IntegerScalar(builder, kIndex, number, builder.sizes(x).size()));
  return Elementwise(builder, "add_fwd", {x, scalar});
}

absl::StatusOr<TensorId> MultiplyNumber(PlanBuilder& builder, TensorId x, int64_t number) {
  if (number == 1) return x;
  HPU_ASSIGN_OR_RETURN(const TensorId scalar, IntegerScalar(builder, kIndex, number, builder.sizes(x).size()));
  return Elementwise(builder, "mult_fwd", {x, scalar});
}

std::vector<int64_t> RowLayout::order() const {
  std::vector<int64_t> dimensions = partial;
  dimensions.insert(dimensions.end(), whole.begin(), whole.end());
  return dimensions;
}

absl::StatusOr<RowLayout> RowLayoutOf(absl::Span<const int64_t> sizes, absl::Span<const int64_t> window_sizes) {
  RowLayout layout;
  for (size_t d = 0; d < sizes.size(); ++d) {
    (window_sizes[d] < sizes[d] ? layout.partial : layout.whole).push_back(static_cast<int64_t>(d));
  }
  layout.strides.resize(layout.partial.size());
  for (size_t i = layout.partial.size(); i-- > 0;) {
    layout.strides[i] = layout.rows;
    layout.window_rows *= window_sizes[layout.partial[i]];
    if (sizes[layout.partial[i]] > kMaxRows / layout.rows) {
      return absl::UnimplementedError(absl::StrCat("arrays of ", layout.rows, " x ", sizes[layout.partial[i]],
                                                   " indexed rows are too large: the maximum is 2^31 - 2"));
    }
    layout.rows *= sizes[layout.partial[i]];
  }
  return layout;
}

absl::StatusOr<TensorId> ToRows(PlanBuilder& builder, TensorId x, const RowLayout& layout) {
  const auto rows = static_cast<uint64_t>(layout.rows);
  HPU_ASSIGN_OR_RETURN(x, HloTranspose(builder, x, layout.order()));
  return Reshape(builder, x, {ElementCount(builder.sizes(x)) / rows, rows});
}

absl::StatusOr<TensorId> FromRows(PlanBuilder& builder, TensorId x, const RowLayout& layout,
                                  absl::Span<const int64_t> sizes) {
  const std::vector<int64_t> order = layout.order();
  Sizes ordered;
  std::vector<int64_t> inverse(order.size());
  for (size_t i = order.size(); i-- > 0;) {
    ordered.push_back(sizes[order[i]]);
    inverse[order[i]] = static_cast<int64_t>(i);
  }
  if (ordered.empty()) ordered = {1};
  HPU_ASSIGN_OR_RETURN(x, Reshape(builder, x, ordered));
  return HloTranspose(builder, x, inverse);
}

absl::StatusOr<TensorId> WindowRows(PlanBuilder& builder, TensorId first, const RowLayout& layout,
                                    absl::Span<const int64_t> window_sizes) {
  if (layout.window_rows == 1) return first;
  std::vector<int32_t> offsets = {0};
  for (size_t i = 0; i < layout.partial.size(); ++i) {
    std::vector<int32_t> finer;
    for (const int32_t offset : offsets) {
      for (int64_t j = 0; j < window_sizes[layout.partial[i]]; ++j) {
        finer.push_back(static_cast<int32_t>(offset + j * layout.strides[i]));
      }
    }
    offsets = std::move(finer);
  }
  std::string data(offsets.size() * sizeof(int32_t), '\0');
  std::memcpy(data.data(), offsets.data(), data.size());
  HPU_ASSIGN_OR_RETURN(const TensorId constant, builder.AddConstant({kIndex, {offsets.size(), 1}}, std::move(data)));
  return Elementwise(builder, "add_fwd", {first, constant});
}

}  // namespace hpu::gaudi
