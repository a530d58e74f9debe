#include "plugin/backends/gaudi/plan/nodes.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "Eigen/Core"
#include "absl/strings/str_cat.h"
#include "plugin/backends/gaudi/plan/element_types.h"
#include "plugin/backends/gaudi/plan/wide_integers.h"
#include "plugin/backends/gaudi/synapse/params.h"
#include "plugin/base/status_macros.h"

namespace hpu::gaudi {
namespace {

Sizes BroadcastSizes(const PlanBuilder& builder, const std::vector<TensorId>& operands) {
  Sizes sizes = builder.sizes(operands.front());
  for (const TensorId operand : operands) {
    for (size_t d = 0; d < sizes.size(); ++d) sizes[d] = std::max(sizes[d], builder.sizes(operand)[d]);
  }
  return sizes;
}

// Whether each operand is broadcast in both or neither of the dimensions d and d + 1. Size 1 matches both cases.
bool CanMerge(const PlanBuilder& builder, const std::vector<TensorId>& operands, const Sizes& sizes, size_t d) {
  for (const TensorId operand : operands) {
    const Sizes& own = builder.sizes(operand);
    if ((own[d] == sizes[d]) != (own[d + 1] == sizes[d + 1]) && sizes[d] != 1 && sizes[d + 1] != 1) return false;
  }
  return true;
}

// Merges neighbouring dimensions of the operands until a kernel supports their rank. Merging keeps the order of the
// result's elements. If too many dimensions remain, repeats the broadcast elements and merges all dimensions.
absl::Status Collapse(PlanBuilder& builder, std::vector<TensorId>* operands) {
  Sizes sizes = BroadcastSizes(builder, *operands);
  if (sizes.size() <= kMaxKernelRank) return absl::OkStatus();
  std::vector<std::vector<size_t>> groups = {{0}};
  for (size_t d = 0; d + 1 < sizes.size(); ++d) {
    if (CanMerge(builder, *operands, sizes, d)) {
      groups.back().push_back(d + 1);
    } else {
      groups.push_back({d + 1});
    }
  }
  // Merging is not transitive across dimensions of size 1, so a group must be full or 1 for each operand.
  const auto collapsed = [&](const Sizes& own, bool* is_valid) {
    Sizes result;
    for (const auto& group : groups) {
      uint64_t size = 1;
      uint64_t full = 1;
      for (const size_t d : group) {
        size *= own[d];
        full *= sizes[d];
      }
      *is_valid &= size == 1 || size == full;
      result.push_back(size);
    }
    return result;
  };
  bool is_valid = groups.size() <= kMaxKernelRank;
  for (const TensorId operand : *operands) collapsed(builder.sizes(operand), &is_valid);
  for (TensorId& operand : *operands) {
    if (is_valid) {
      HPU_ASSIGN_OR_RETURN(operand, Reshape(builder, operand, collapsed(builder.sizes(operand), &is_valid)));
    } else {
      HPU_ASSIGN_OR_RETURN(operand, Broadcast(builder, operand, sizes));
      HPU_ASSIGN_OR_RETURN(operand, Reshape(builder, operand, {ElementCount(sizes)}));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<TensorId> AddElementwise(PlanBuilder& builder, absl::string_view stem, synapse::synDataType suffix,
                                        std::vector<TensorId> operands, synapse::synDataType result_type,
                                        const std::string& params = "") {
  const Sizes sizes = BroadcastSizes(builder, operands);
  HPU_RETURN_IF_ERROR(Collapse(builder, &operands));
  const TensorType result = {result_type, BroadcastSizes(builder, operands)};
  HPU_ASSIGN_OR_RETURN(const TensorId id, builder.AddTyped(stem, suffix, std::move(operands), result, params));
  return Reshape(builder, id, sizes);
}

// One element as bytes.
template <typename T>
std::string Bytes(T value) {
  std::string bytes(sizeof(value), '\0');
  std::memcpy(bytes.data(), &value, sizeof(value));
  return bytes;
}

std::string ElementBytes(synapse::synDataType type, int64_t value) {
  const std::string bytes = Bytes(value);  // little-endian, so the low bytes come first
  return bytes.substr(0, BytesOf(type));
}

template <typename Params>
std::string SliceParams(const std::vector<uint64_t>& starts, const std::vector<uint64_t>& ends,
                        const std::vector<uint64_t>& steps) {
  Params params = {};
  for (size_t d = 0; d < starts.size(); ++d) {
    params.axes[d] = static_cast<uint32_t>(d);
    params.starts[d] = starts[d];
    params.ends[d] = ends[d];
    params.steps[d] = steps[d];
  }
  return ParamsBytes(params);
}

std::string SliceParams(synapse::Profile profile, const std::vector<uint64_t>& starts,
                        const std::vector<uint64_t>& ends, const std::vector<uint64_t>& steps) {
  return profile == synapse::Profile::k1_5 ? SliceParams<synapse::synSliceParams>(starts, ends, steps)
                                           : SliceParams<synapse::synSliceParamsV2>(starts, ends, steps);
}

// Numbers of elements in the dimensions below and above `dimension`.
std::pair<uint64_t, uint64_t> Around(const Sizes& sizes, size_t dimension) {
  const auto at = sizes.begin() + static_cast<std::ptrdiff_t>(dimension);
  return {ElementCount(Sizes(sizes.begin(), at)), ElementCount(Sizes(at + 1, sizes.end()))};
}

// Transposes the elements of a view; the caller reshapes the result. Dimensions that stay neighbours move as one group.
// Moves one group at a time.
absl::StatusOr<TensorId> TransposeManyDimensions(PlanBuilder& builder, TensorId x,
                                                 const std::vector<int64_t>& permutation) {
  Sizes sizes;                 // of the groups, in their current order
  std::vector<size_t> groups;  // for each group, its position in the result
  const Sizes& old_sizes = builder.sizes(x);
  // Ignores dimensions of size 1.
  std::vector<size_t> place(permutation.size());
  size_t places = 0;
  for (const int64_t d : permutation) place[d] = old_sizes[d] == 1 ? 0 : places++;
  size_t last = 0;
  for (size_t d = 0; d < old_sizes.size(); ++d) {
    if (old_sizes[d] == 1) continue;
    if (!groups.empty() && place[d] == place[last] + 1) {
      sizes.back() *= old_sizes[d];
    } else {
      sizes.push_back(old_sizes[d]);
      groups.push_back(place[d]);
    }
    last = d;
  }
  for (size_t target = 0; target < groups.size(); ++target) {
    const auto from = std::min_element(groups.begin() + static_cast<std::ptrdiff_t>(target), groups.end());
    const auto at = static_cast<size_t>(from - groups.begin());
    if (at == target) continue;
    const auto begin = sizes.begin() + static_cast<std::ptrdiff_t>(target);
    const auto moved = sizes.begin() + static_cast<std::ptrdiff_t>(at);
    HPU_ASSIGN_OR_RETURN(x, Reshape(builder, x,
                                    {ElementCount(Sizes(sizes.begin(), begin)), ElementCount(Sizes(begin, moved)),
                                     *moved, ElementCount(Sizes(moved + 1, sizes.end()))}));
    HPU_ASSIGN_OR_RETURN(x, Transpose(builder, x, {0, 2, 1, 3}));
    std::rotate(begin, moved, moved + 1);
    std::rotate(groups.begin() + static_cast<std::ptrdiff_t>(target), from, from + 1);
  }
  return x;
}

}  // namespace

absl::StatusOr<TensorId> Elementwise(PlanBuilder& builder, absl::string_view stem, std::vector<TensorId> operands) {
  return ElementwiseWithParams(builder, stem, std::move(operands), "");
}

absl::StatusOr<TensorId> ElementwiseWithParams(PlanBuilder& builder, absl::string_view stem,
                                               std::vector<TensorId> operands, std::string params) {
  const synapse::synDataType type = builder.type(operands.back());
  if (NeedsHalves(builder, stem, operands)) return WideElementwise(builder, stem, operands, params);
  return AddElementwise(builder, stem, type, std::move(operands), type, params);
}

absl::StatusOr<TensorId> Compare(PlanBuilder& builder, absl::string_view stem, TensorId a, TensorId b) {
  if (NeedsHalves(builder, stem, {a, b})) return WideCompare(builder, stem, a, b);
  return AddElementwise(builder, stem, builder.type(a), {a, b}, synapse::syn_type_int8);
}

absl::StatusOr<TensorId> Not(PlanBuilder& builder, TensorId mask) { return Elementwise(builder, "not_fwd", {mask}); }

absl::StatusOr<TensorId> Where(PlanBuilder& builder, TensorId mask, TensorId a, TensorId b) {
  const synapse::synDataType type = builder.type(a);
  if (type == synapse::syn_type_uint16) {
    // No kernel has the type u16. A selection moves bits only.
    HPU_ASSIGN_OR_RETURN(a, Reinterpret(builder, a, synapse::syn_type_int16));
    HPU_ASSIGN_OR_RETURN(b, Reinterpret(builder, b, synapse::syn_type_int16));
    HPU_ASSIGN_OR_RETURN(const TensorId bits, Where(builder, mask, a, b));
    return Reinterpret(builder, bits, type);
  }
  return Elementwise(builder, "where_fwd", {mask, a, b});
}

absl::StatusOr<TensorId> FlipSign(PlanBuilder& builder, TensorId x) {
  const synapse::synDataType type = builder.type(x);
  const int64_t sign = std::numeric_limits<int64_t>::min() >> (64 - 8 * BytesOf(type));
  HPU_ASSIGN_OR_RETURN(const TensorId mask, IntegerScalar(builder, type, sign, builder.sizes(x).size()));
  return Elementwise(builder, "bitwise_xor_fwd", {x, mask});
}

absl::StatusOr<TensorId> ShiftBy(PlanBuilder& builder, TensorId x, int bits, bool left) {
  if (bits == 0) return x;
  synapse::ns_BitShiftKernel::Params params = {};
  params.direction = left ? synapse::ns_BitShiftKernel::BIT_SHIFT_LEFT : synapse::ns_BitShiftKernel::BIT_SHIFT_RIGHT;
  HPU_ASSIGN_OR_RETURN(const TensorId count, IntegerScalar(builder, builder.type(x), bits, builder.sizes(x).size()));
  return ElementwiseWithParams(builder, "bitshift_fwd", {x, count}, ParamsBytes(params));
}

absl::StatusOr<TensorId> Scalar(PlanBuilder& builder, synapse::synDataType type, double value, size_t rank) {
  std::string data;
  switch (type) {
    case synapse::syn_type_float:
      data = Bytes(static_cast<float>(value));
      break;
    case synapse::syn_type_bf16:
      data = Bytes(Eigen::bfloat16(static_cast<float>(value)));
      break;
    case synapse::syn_type_fp16:
      data = Bytes(Eigen::half(static_cast<float>(value)));
      break;
    default:
      return IntegerScalar(builder, type, static_cast<int64_t>(value), rank);
  }
  return builder.AddConstant({type, Sizes(rank, 1)}, std::move(data));
}

absl::StatusOr<TensorId> IntegerScalar(PlanBuilder& builder, synapse::synDataType type, int64_t value, size_t rank) {
  return builder.AddConstant({type, Sizes(rank, 1)}, ElementBytes(type, value));
}

absl::StatusOr<TensorId> ScalarLike(PlanBuilder& builder, TensorId tensor, double value) {
  return Scalar(builder, builder.type(tensor), value, builder.sizes(tensor).size());
}

absl::StatusOr<TensorId> Cast(PlanBuilder& builder, TensorId x, synapse::synDataType type) {
  if (builder.type(x) == type) return x;
  if (NeedsWideCast(builder, x, type)) return WideCast(builder, x, type);
  const Sizes sizes = builder.sizes(x);
  TensorId value = x;
  if (sizes.size() > kMaxKernelRank) {
    HPU_ASSIGN_OR_RETURN(value, Reshape(builder, x, {ElementCount(sizes)}));
  }
  const std::vector<synapse::synDataType> path = CastPath(builder.generation(), builder.type(x), type);
  if (path.empty()) {
    return absl::UnimplementedError(absl::StrCat("Gaudi has no kernel that casts ",
                                                 std::string(TypeSuffix(builder.type(x))), " to ",
                                                 std::string(TypeSuffix(type))));
  }
  for (const synapse::synDataType next : path) {
    const synapse::synDataType source = builder.type(value);
    synapse::ns_CastKernel::Params params = {};
    params.round_mode = IsFloat(source) && !IsFloat(next) ? synapse::ns_CastKernel::CAST_ROUND_ZERO
                                                          : synapse::ns_CastKernel::CAST_ROUND_HALF_NE;
    HPU_ASSIGN_OR_RETURN(value, builder.Add(absl::StrCat("cast_", std::string(TypeSuffix(source)), "_to_",
                                                         std::string(TypeSuffix(next))),
                                            {value}, {next, builder.sizes(value)}, ParamsBytes(params)));
  }
  return Reshape(builder, value, sizes);
}

absl::StatusOr<TensorId> Reinterpret(PlanBuilder& builder, TensorId x, synapse::synDataType type) {
  if (builder.type(x) == type) return x;
  const Sizes sizes = builder.sizes(x);
  x = builder.Storage(x);
  HPU_ASSIGN_OR_RETURN(const TensorId value, builder.Add("reinterpret_cast", {x}, {type, builder.sizes(x)}));
  return Reshape(builder, value, sizes);
}

absl::StatusOr<TensorId> Reshape(PlanBuilder& builder, TensorId x, const Sizes& sizes) {
  if (builder.sizes(x) == sizes) return x;
  if (builder.FindHalves(x).has_value()) {
    return MoveHalves(builder, x, sizes, [&](TensorId half) { return Reshape(builder, half, sizes); });
  }
  const TensorId storage = builder.Storage(x);
  if (builder.sizes(storage) == sizes) return storage;
  const PlanTensor& tensor = builder.tensor(storage);
  if (tensor.role == TensorRole::kConstant && tensor.data.size() == tensor.bytes() && ElementCount(sizes) == 1) {
    return builder.AddConstant({tensor.type, sizes}, tensor.data);
  }
  if (builder.HasTooManyDimensions(sizes)) return builder.AddView(storage, sizes);
  return builder.Add("reshape", {storage}, {builder.type(storage), sizes});
}

absl::StatusOr<TensorId> Broadcast(PlanBuilder& builder, TensorId x, const Sizes& sizes) {
  if (builder.sizes(x) == sizes) return x;
  if (!builder.HasTooManyDimensions(sizes)) {
    HPU_ASSIGN_OR_RETURN(const TensorId full, builder.Add("broadcast", {x}, {builder.type(x), sizes}));
    if (const auto halves = builder.FindHalves(x); halves.has_value()) builder.SetHalves(full, *halves);
    return full;
  }
  Sizes partial = builder.sizes(x);
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (partial[d] == sizes[d]) continue;
    const auto [inner, outer] = Around(partial, d);
    HPU_ASSIGN_OR_RETURN(x, Reshape(builder, x, {inner, 1, outer}));
    HPU_ASSIGN_OR_RETURN(x, Broadcast(builder, x, {inner, sizes[d], outer}));
    partial[d] = sizes[d];
  }
  return Reshape(builder, x, sizes);
}

absl::StatusOr<TensorId> Transpose(PlanBuilder& builder, TensorId x, const std::vector<int64_t>& permutation) {
  const Sizes& old_sizes = builder.sizes(x);
  Sizes sizes(old_sizes.size());
  bool is_identity = true;
  for (size_t d = 0; d < sizes.size(); ++d) {
    sizes[d] = old_sizes[permutation[d]];
    is_identity &= permutation[d] == static_cast<int64_t>(d);
  }
  if (is_identity) return x;
  if (builder.HasTooManyDimensions(sizes)) {
    HPU_ASSIGN_OR_RETURN(x, TransposeManyDimensions(builder, x, permutation));
    return Reshape(builder, x, sizes);
  }
  const auto fill = [&](auto params) {
    for (size_t d = 0; d < sizes.size(); ++d) params.permutation[d] = static_cast<uint32_t>(permutation[d]);
    params.tensorDim = static_cast<uint32_t>(sizes.size());
    return ParamsBytes(params);
  };
  std::string params;
  if (builder.profile() == synapse::Profile::k1_5) {
    params = fill(synapse::synTransposeParams{});
  } else {
    params = fill(synapse::synTransposeParamsNDims{});
  }
  return builder.Add("transpose", {x}, {builder.type(x), sizes}, std::move(params));
}

absl::StatusOr<TensorId> HloTranspose(PlanBuilder& builder, TensorId x, absl::Span<const int64_t> permutation) {
  if (permutation.empty()) return x;
  const auto rank = static_cast<int64_t>(permutation.size());
  std::vector<int64_t> dimensions(permutation.size());
  for (int64_t d = 0; d < rank; ++d) dimensions[d] = rank - 1 - permutation[rank - 1 - d];
  return Transpose(builder, x, dimensions);
}

absl::StatusOr<TensorId> Slice(PlanBuilder& builder, TensorId x, const std::vector<uint64_t>& starts,
                               const std::vector<uint64_t>& ends, const std::vector<uint64_t>& steps) {
  Sizes sizes;
  for (size_t d = 0; d < starts.size(); ++d) sizes.push_back((ends[d] - starts[d] + steps[d] - 1) / steps[d]);
  if (sizes == builder.sizes(x)) return x;
  if (builder.FindHalves(x).has_value()) {
    return MoveHalves(builder, x, sizes, [&](TensorId half) { return Slice(builder, half, starts, ends, steps); });
  }
  if (!builder.HasTooManyDimensions(sizes)) {
    return builder.Add("slice", {x}, {builder.type(x), sizes}, SliceParams(builder.profile(), starts, ends, steps));
  }
  Sizes partial = builder.sizes(x);
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (partial[d] == sizes[d]) continue;
    const auto [inner, outer] = Around(partial, d);
    HPU_ASSIGN_OR_RETURN(x, Reshape(builder, x, {inner, partial[d], outer}));
    HPU_ASSIGN_OR_RETURN(x, Slice(builder, x, {0, starts[d], 0}, {inner, ends[d], outer}, {1, steps[d], 1}));
    partial[d] = sizes[d];
  }
  return Reshape(builder, x, sizes);
}

absl::StatusOr<TensorId> SliceInsert(PlanBuilder& builder, TensorId x, TensorId update,
                                     const std::vector<uint64_t>& starts, const std::vector<uint64_t>& steps) {
  std::vector<uint64_t> ends;
  for (size_t d = 0; d < starts.size(); ++d) {
    ends.push_back(starts[d] + (builder.sizes(update)[d] - 1) * steps[d] + 1);
  }
  return builder.Add("slice_insert", {x, update}, builder.tensor_type(x),
                     SliceParams(builder.profile(), starts, ends, steps));
}

absl::StatusOr<TensorId> Reverse(PlanBuilder& builder, TensorId x, size_t dimension) {
  const Sizes sizes = builder.sizes(x);
  if (sizes[dimension] == 1) return x;
  if (builder.type(x) == synapse::syn_type_int64 && !builder.Has("reverse", builder.type(x))) {
    return ForEachHalf(builder, x, [&](TensorId half) { return Reverse(builder, half, dimension); });
  }
  if (builder.type(x) == synapse::syn_type_uint16) {
    HPU_ASSIGN_OR_RETURN(const TensorId bits, Reinterpret(builder, x, synapse::syn_type_int16));
    HPU_ASSIGN_OR_RETURN(const TensorId reversed, Reverse(builder, bits, dimension));
    return Reinterpret(builder, reversed, synapse::syn_type_uint16);
  }
  if (sizes.size() > kMaxKernelRank) {
    const auto [inner, outer] = Around(sizes, dimension);
    HPU_ASSIGN_OR_RETURN(x, Reshape(builder, x, {inner, sizes[dimension], outer}));
    HPU_ASSIGN_OR_RETURN(x, Reverse(builder, x, 1));
    return Reshape(builder, x, sizes);
  }
  HPU_ASSIGN_OR_RETURN(const TensorId axis,
                       IntegerScalar(builder, synapse::syn_type_int32, static_cast<int64_t>(dimension), 1));
  return builder.AddTyped("reverse", builder.type(x), {x, axis}, builder.tensor_type(x));
}

absl::StatusOr<TensorId> Concatenate(PlanBuilder& builder, std::vector<TensorId> parts, uint32_t axis) {
  if (parts.size() == 1) return parts.front();
  TensorType result = builder.tensor_type(parts.front());
  result.sizes[axis] = 0;
  for (const TensorId part : parts) result.sizes[axis] += builder.sizes(part)[axis];
  if (builder.HasTooManyDimensions(result.sizes)) {
    const auto [inner, outer] = Around(result.sizes, axis);
    for (TensorId& part : parts) {
      HPU_ASSIGN_OR_RETURN(part, Reshape(builder, part, {inner, builder.sizes(part)[axis], outer}));
    }
    HPU_ASSIGN_OR_RETURN(const TensorId whole, Concatenate(builder, std::move(parts), 1));
    return Reshape(builder, whole, result.sizes);
  }
  synapse::synConcatenateParams params = {};
  params.axis = axis;
  return builder.Add("concat", std::move(parts), result, ParamsBytes(params));
}

absl::StatusOr<TensorId> Range(PlanBuilder& builder, uint64_t count) {
  if (count > static_cast<uint64_t>(std::numeric_limits<int32_t>::max())) {
    return absl::UnimplementedError(
        absl::StrCat("ranges of ", count, " elements are too large: the maximum is 2^31 - 1"));
  }
  synapse::ns_RangeKernel::Params params = {};
  params.start.i = 0;
  params.limit.i = static_cast<int32_t>(count);
  params.delta.i = 1;
  return builder.Add("range_i32", {}, {synapse::syn_type_int32, {count}}, ParamsBytes(params));
}

absl::StatusOr<TensorId> Splat(PlanBuilder& builder, TensorId scalar, const Sizes& sizes) {
  HPU_ASSIGN_OR_RETURN(const TensorId ones, Reshape(builder, scalar, Sizes(sizes.size(), 1)));
  return Broadcast(builder, ones, sizes);
}

}  // namespace hpu::gaudi
