#include "plugin/compiler/lowerings/window_places.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/kernel_shape_util.h"
#include "tsl/platform/errors.h"
#include "xla/client/lib/constants.h"
#include "xla/client/lib/loops.h"
#include "xla/shape_util.h"

namespace hpu {

using xla::XlaOp;

absl::StatusOr<WindowPlaces> WindowPlaces::Make(absl::string_view op, absl::Span<const int64_t> images,
                                                WindowDimension rows, WindowDimension columns,
                                                tensorflow::Padding padding) {
  WindowPlaces places;
  places.images_.assign(images.begin(), images.end());
  places.windows_ = places.images_;
  places.rows_ = rows;
  places.columns_ = columns;
  for (const int64_t dimension : {1, 2}) {
    WindowDimension& d = dimension == 1 ? places.rows_ : places.columns_;
    for (const auto& [name, number] : {std::pair("strides", d.stride), std::pair("rates", d.rate)}) {
      if (number > 0) continue;
      return absl::InvalidArgumentError(
          absl::StrCat(op, ": ", name, "[", dimension, "] must be positive, got ", number));
    }
    TF_RETURN_IF_ERROR(tensorflow::GetWindowedOutputSize(images[dimension], (d.window - 1) * d.rate + 1,
                                                         /*dilation_rate=*/1, d.stride, padding,
                                                         &places.windows_[dimension], &d.pad_low));
  }
  return places;
}

WindowPlace WindowPlaces::PlaceOf(XlaOp number, Order order) const {
  if (order == Order::kBackwards) number = xla::ScalarLike(number, places() - 1) - number;
  const XlaOp columns = xla::ScalarLike(number, columns_.window);
  return {number, number / columns, xla::Rem(number, columns)};
}

absl::StatusOr<std::vector<XlaOp>> WindowPlaces::Fold(Order order, const std::vector<XlaOp>& constants,
                                                      const std::vector<XlaOp>& values, const Step& step) const {
  std::vector<XlaOp> carried = values;
  carried.insert(carried.end(), constants.begin(), constants.end());
  const size_t count = values.size();
  const auto body = [&](XlaOp i, absl::Span<const XlaOp> all, xla::XlaBuilder*) -> xla::StatusOr<std::vector<XlaOp>> {
    std::vector<XlaOp> next = step(PlaceOf(i, order), all.subspan(count), all.subspan(0, count));
    next.insert(next.end(), all.begin() + count, all.end());
    return next;
  };
  TF_ASSIGN_OR_RETURN(carried,
                      xla::ForEachIndex(places(), xla::S32, body, carried, "window_places", values[0].builder()));
  carried.resize(count);
  return carried;
}

int64_t WindowPlaces::FrameLength(int64_t dimension) const {
  const WindowDimension& d = Of(dimension);
  return (windows_[dimension] - 1) * d.stride + (d.window - 1) * d.rate + 1;
}

xla::PaddingConfig WindowPlaces::FramePadding(bool inverse) const {
  xla::PaddingConfig padding;
  for (int64_t i = 0; i < 4; ++i) {
    xla::PaddingConfig::PaddingConfigDimension* const edge = padding.add_dimensions();
    if (i != 1 && i != 2) continue;
    const int64_t low = Of(i).pad_low, high = FrameLength(i) - low - images_[i];
    edge->set_edge_padding_low(inverse ? -low : low);
    edge->set_edge_padding_high(inverse ? -high : high);
  }
  return padding;
}

XlaOp WindowPlaces::FrameOf(XlaOp images, XlaOp fill) const {
  return xla::Pad(images, fill, FramePadding(/*inverse=*/false));
}

XlaOp WindowPlaces::FrameOf(XlaOp fill) const {
  return xla::Broadcast(fill, {images_[0], FrameLength(1), FrameLength(2), images_[3]});
}

XlaOp WindowPlaces::ImagesOf(XlaOp frame) const {
  const xla::PrimitiveType type = frame.builder()->GetShapePtr(frame).value()->element_type();
  return xla::Pad(frame, xla::Zero(frame.builder(), type), FramePadding(/*inverse=*/true));
}

std::vector<XlaOp> WindowPlaces::BeginOf(const WindowPlace& place) const {
  const XlaOp zero = xla::ZerosLike(place.number);
  return {zero, place.row * xla::ScalarLike(zero, rows_.rate), place.column * xla::ScalarLike(zero, columns_.rate),
          zero};
}

XlaOp WindowPlaces::At(XlaOp frame, const WindowPlace& place) const {
  std::vector<int64_t> sizes = windows_;
  for (const int64_t i : {1, 2}) sizes[i] = (windows_[i] - 1) * Of(i).stride + 1;
  const XlaOp slice = xla::DynamicSlice(frame, BeginOf(place), sizes);
  return xla::Slice(slice, {0, 0, 0, 0}, sizes, {1, rows_.stride, columns_.stride, 1});
}

XlaOp WindowPlaces::AddedAt(XlaOp frame, const WindowPlace& place, XlaOp more) const {
  const xla::PrimitiveType type = frame.builder()->GetShapePtr(frame).value()->element_type();
  std::vector<int64_t> sizes = windows_;
  xla::PaddingConfig padding;
  for (int64_t i = 0; i < 4; ++i) {
    xla::PaddingConfig::PaddingConfigDimension* const edge = padding.add_dimensions();
    if (i != 1 && i != 2) continue;
    sizes[i] = (windows_[i] - 1) * Of(i).stride + 1;
    edge->set_interior_padding(Of(i).stride - 1);
  }
  const XlaOp sum =
      xla::DynamicSlice(frame, BeginOf(place), sizes) + xla::Pad(more, xla::Zero(frame.builder(), type), padding);
  return xla::DynamicUpdateSlice(frame, sum, BeginOf(place));
}

XlaOp WindowPlaces::PixelsOf(xla::XlaBuilder* builder, const WindowPlace& place, int64_t dimension) const {
  const WindowDimension& d = Of(dimension);
  const XlaOp window = xla::Iota(builder, xla::ShapeUtil::MakeShape(xla::S32, windows_), dimension);
  const XlaOp at = (dimension == 1 ? place.row : place.column) * xla::ScalarLike(place.number, d.rate);
  return window * xla::ScalarLike(window, d.stride) + (at - xla::ScalarLike(at, d.pad_low));
}

XlaOp WindowPlaces::IsInside(xla::XlaBuilder* builder, const WindowPlace& place) const {
  const auto inside = [&](int64_t dimension) {
    const XlaOp pixels = PixelsOf(builder, place, dimension);
    return xla::And(xla::Ge(pixels, xla::ZerosLike(pixels)),
                    xla::Lt(pixels, xla::ScalarLike(pixels, images_[dimension])));
  };
  return xla::And(inside(1), inside(2));
}

bool WindowPlaces::StandOut() const {
  for (const int64_t i : {1, 2}) {
    if (Of(i).pad_low > 0 || FrameLength(i) - Of(i).pad_low > images_[i]) return true;
  }
  return false;
}

XlaOp WindowPlaces::PixelAt(xla::XlaBuilder* builder, const WindowPlace& place) const {
  const XlaOp row = PixelsOf(builder, place, 1);
  return row * xla::ScalarLike(row, images_[2]) + PixelsOf(builder, place, 2);
}

}  // namespace hpu
