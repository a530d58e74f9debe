#include "plugin/compiler/lowerings/dynamic_slices.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/lib/slicing.h"
#include "xla/shape_util.h"

namespace hpu {
namespace {

using xla::XlaOp;

// A negative index counts from the end.
SizeNumber Wrapped(const SizeNumber& index, const SizeNumber& size) {
  if (index.low >= 0) return index;
  if (index.high < 0) return Plus(index, size);
  const SizeNumber from_end = Plus(index, size);
  xla::XlaBuilder* const builder = index.value.builder();
  const XlaOp value = index.AsOp(builder);
  return SizeNumber::Computed(xla::Select(xla::Lt(value, xla::ScalarLike(value, 0)), from_end.AsOp(builder), value),
                              std::min<int64_t>(index.low + size.low, 0), std::max(index.high, size.high - 1));
}

int64_t BoundOf(XlaOp array, int64_t d) { return array.builder()->GetShape(array)->dimensions(d); }

// Elements of dimension `d` at `positions`, which are clamped.
XlaOp GatherDimension(XlaOp array, XlaOp positions, int64_t d) {
  return xla::TorchIndexSelect(
      array, xla::Clamp(xla::ScalarLike(positions, 0), positions, xla::ScalarLike(positions, BoundOf(array, d) - 1)),
      d);
}

xla::PaddingConfig PaddingOf(XlaOp array, int64_t d, int64_t low, int64_t high, int64_t interior) {
  xla::PaddingConfig padding = xla::MakeNoPaddingConfig(array.builder()->GetShape(array)->dimensions_size());
  padding.mutable_dimensions(static_cast<int>(d))->set_edge_padding_low(low);
  padding.mutable_dimensions(static_cast<int>(d))->set_edge_padding_high(high);
  padding.mutable_dimensions(static_cast<int>(d))->set_interior_padding(interior);
  return padding;
}

XlaOp ZeroOf(XlaOp array) { return xla::Zero(array.builder(), array.builder()->GetShape(array)->element_type()); }

std::vector<XlaOp> StartAt(XlaOp array, XlaOp begin, int64_t d) {
  std::vector<XlaOp> starts(array.builder()->GetShape(array)->dimensions_size(), xla::ScalarLike(begin, 0));
  starts[d] = begin;
  return starts;
}

// Replaces elements by zero where `kept`, a vector along dimension `d`, is false.
XlaOp KeepWhere(XlaOp array, XlaOp kept, int64_t d) {
  const xla::Shape shape = *array.builder()->GetShape(array);
  return xla::Select(xla::BroadcastInDim(kept, shape.dimensions(), {d}), array,
                     xla::Broadcast(ZeroOf(array), shape.dimensions()));
}

}  // namespace

DimensionSlice StridedDimension(const std::optional<SizeNumber>& begin, const std::optional<SizeNumber>& end,
                                int64_t stride, const SizeNumber& size) {
  const bool forward = stride > 0;
  // Positions before the first and behind the last element, to which indices are clamped.
  const SizeNumber low = SizeNumber::Known(forward ? 0 : -1);
  const SizeNumber high = forward ? size : Minus(size, SizeNumber::Known(1));
  const SizeNumber first = !begin.has_value() ? (forward ? low : high) : Wrapped(*begin, size);
  const SizeNumber last = !end.has_value() ? (forward ? high : low) : Wrapped(*end, size);
  const auto clamp = [&](const SizeNumber& position) { return Least(Most(position, low), high); };
  const SizeNumber from = clamp(first), to = clamp(last);
  const SizeNumber range = Most(forward ? Minus(to, from) : Minus(from, to), SizeNumber::Known(0));
  DimensionSlice slice{from, DividedBy(range, std::abs(stride)), stride};
  // The length is 0 if a known begin is past the size.
  if (forward && first.known.has_value() && *first.known >= 0) {
    slice.begin = SizeNumber::Known(std::min(*first.known, size.high));
  }
  // Tighter than the bounds of `range`: if an index is past the size, the length is 0.
  const int64_t most =
      forward ? to.high - std::max<int64_t>(first.low, 0) : from.high - std::max<int64_t>(last.low, -1);
  const int64_t from_end = forward && begin.has_value() && begin->high < 0 ? -begin->low : size.high;  // x[-3:]
  const int64_t step = std::abs(stride);
  slice.length.high = (std::clamp<int64_t>(std::min(most, from_end), 0, size.high) + step - 1) / step;
  return slice;
}

DimensionSlice ElementOfDimension(const SizeNumber& index, const SizeNumber& size) {
  return {Wrapped(index, size), SizeNumber::Known(1), 1};
}

XlaOp SliceDimension(XlaOp array, const DimensionSlice& slice, int64_t d) {
  xla::XlaBuilder* const builder = array.builder();
  const int64_t bound = BoundOf(array, d), length = slice.length.high;
  if (slice.begin.known.has_value() && slice.stride > 0) {
    const int64_t begin = std::clamp<int64_t>(*slice.begin.known, 0, bound);
    const int64_t end = length == 0 ? begin : begin + (length - 1) * slice.stride + 1;
    if (end > bound) array = xla::Pad(array, ZeroOf(array), PaddingOf(array, d, 0, end - bound, 0));
    return xla::SliceInDim(array, begin, end, slice.stride, d);
  }
  const XlaOp begin = slice.begin.AsOp(builder);
  if (slice.stride == 1) {
    if (slice.length.known != 1) array = xla::Pad(array, ZeroOf(array), PaddingOf(array, d, 0, length, 0));
    const xla::Shape shape = *builder->GetShape(array);
    std::vector<int64_t> sizes(shape.dimensions().begin(), shape.dimensions().end());
    sizes[d] = length;
    return xla::DynamicSlice(array, StartAt(array, begin, d), sizes);
  }
  const XlaOp iota = xla::Iota(builder, xla::S32, length);
  return GatherDimension(array, iota * xla::ScalarLike(begin, slice.stride) + begin, d);
}

XlaOp PlaceDimension(XlaOp array, const DimensionSlice& slice, int64_t d, int64_t bound) {
  xla::XlaBuilder* const builder = array.builder();
  const xla::Shape shape = *builder->GetShape(array);
  const int64_t length = shape.dimensions(d);
  std::vector<int64_t> placed(shape.dimensions().begin(), shape.dimensions().end());
  placed[d] = bound;
  if (length == 0 || bound == 0) return xla::Broadcast(ZeroOf(array), placed);
  if (slice.length.known != length) {
    array = KeepWhere(array, xla::Lt(xla::Iota(builder, xla::S32, length), slice.length.AsOp(builder)), d);
  }
  if (slice.begin.known.has_value() && slice.stride > 0) {
    const int64_t end = *slice.begin.known + (length - 1) * slice.stride + 1;
    return xla::Pad(array, ZeroOf(array), PaddingOf(array, d, *slice.begin.known, bound - end, slice.stride - 1));
  }
  const XlaOp begin = slice.begin.AsOp(builder);
  if (slice.stride == 1) {
    placed[d] = bound + length;
    const XlaOp zeros = xla::Broadcast(ZeroOf(array), placed);
    return xla::SliceInDim(xla::DynamicUpdateSlice(zeros, array, StartAt(array, begin, d)), 0, bound, 1, d);
  }
  const XlaOp steps = (xla::Iota(builder, xla::S32, bound) - begin) * xla::ScalarLike(begin, slice.stride > 0 ? 1 : -1);
  const XlaOp stride = xla::ScalarLike(begin, std::abs(slice.stride)), zero = xla::ScalarLike(begin, 0);
  const XlaOp source = xla::Div(steps, stride);
  const XlaOp is_placed = xla::And(xla::And(xla::Ge(steps, zero), xla::Eq(xla::Rem(steps, stride), zero)),
                                   xla::Lt(source, xla::ScalarLike(begin, length)));
  return KeepWhere(GatherDimension(array, source, d), is_placed, d);
}

}  // namespace hpu
