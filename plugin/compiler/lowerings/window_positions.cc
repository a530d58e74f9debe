#include "plugin/compiler/lowerings/window_positions.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"
#include "tensorflow/core/framework/kernel_shape_util.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/lib/loops.h"
#include "xla/shape_util.h"

namespace hpu {

using xla::XlaOp;

absl::StatusOr<WindowPositions> WindowPositions::Make(absl::string_view op, absl::Span<const int64_t> images,
                                                      WindowDimension rows, WindowDimension columns,
                                                      tensorflow::Padding padding) {
  WindowPositions positions;
  positions.images_.assign(images.begin(), images.end());
  positions.windows_ = positions.images_;
  positions.rows_ = rows;
  positions.columns_ = columns;
  for (const int64_t dimension : {1, 2}) {
    WindowDimension& d = dimension == 1 ? positions.rows_ : positions.columns_;
    for (const auto& [name, number] : {std::pair("strides", d.stride), std::pair("rates", d.rate)}) {
      if (number > 0) continue;
      return absl::InvalidArgumentError(
          absl::StrCat(op, ": ", name, "[", dimension, "] must be positive, got ", number));
    }
    HPU_RETURN_IF_ERROR(tensorflow::GetWindowedOutputSize(images[dimension], (d.window - 1) * d.rate + 1,
                                                          /*dilation_rate=*/1, d.stride, padding,
                                                          &positions.windows_[dimension], &d.pad_low));
  }
  return positions;
}

WindowPosition WindowPositions::PositionOf(XlaOp number, Order order) const {
  if (order == Order::kBackwards) number = xla::ScalarLike(number, positions() - 1) - number;
  const XlaOp columns = xla::ScalarLike(number, columns_.window);
  return {number, number / columns, xla::Rem(number, columns)};
}

absl::StatusOr<std::vector<XlaOp>> WindowPositions::Fold(Order order, const std::vector<XlaOp>& constants,
                                                         const std::vector<XlaOp>& values, const Step& step) const {
  std::vector<XlaOp> carried = values;
  carried.insert(carried.end(), constants.begin(), constants.end());
  const size_t count = values.size();
  const auto body = [&](XlaOp i, absl::Span<const XlaOp> all, xla::XlaBuilder*) -> absl::StatusOr<std::vector<XlaOp>> {
    std::vector<XlaOp> next = step(PositionOf(i, order), all.subspan(count), all.subspan(0, count));
    next.insert(next.end(), all.begin() + count, all.end());
    return next;
  };
  HPU_ASSIGN_OR_RETURN(carried,
                       xla::ForEachIndex(positions(), xla::S32, body, carried, "window_places", values[0].builder()));
  carried.resize(count);
  return carried;
}

int64_t WindowPositions::FrameLength(int64_t dimension) const {
  const WindowDimension& d = Of(dimension);
  return (windows_[dimension] - 1) * d.stride + (d.window - 1) * d.rate + 1;
}

xla::PaddingConfig WindowPositions::FramePadding(bool inverse) const {
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

XlaOp WindowPositions::FrameOf(XlaOp images, XlaOp fill) const {
  return xla::Pad(images, fill, FramePadding(/*inverse=*/false));
}

XlaOp WindowPositions::FrameOf(XlaOp fill) const {
  return xla::Broadcast(fill, {images_[0], FrameLength(1), FrameLength(2), images_[3]});
}

XlaOp WindowPositions::ImagesOf(XlaOp frame) const {
  const xla::PrimitiveType type = frame.builder()->GetShapePtr(frame).value()->element_type();
  return xla::Pad(frame, xla::Zero(frame.builder(), type), FramePadding(/*inverse=*/true));
}

std::vector<XlaOp> WindowPositions::BeginOf(const WindowPosition& position) const {
  const XlaOp zero = xla::ZerosLike(position.number);
  return {zero, position.row * xla::ScalarLike(zero, rows_.rate),
          position.column * xla::ScalarLike(zero, columns_.rate), zero};
}

XlaOp WindowPositions::At(XlaOp frame, const WindowPosition& position) const {
  std::vector<int64_t> sizes = windows_;
  for (const int64_t i : {1, 2}) sizes[i] = (windows_[i] - 1) * Of(i).stride + 1;
  const XlaOp slice = xla::DynamicSlice(frame, BeginOf(position), sizes);
  return xla::Slice(slice, {0, 0, 0, 0}, sizes, {1, rows_.stride, columns_.stride, 1});
}

XlaOp WindowPositions::AddedAt(XlaOp frame, const WindowPosition& position, XlaOp more) const {
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
      xla::DynamicSlice(frame, BeginOf(position), sizes) + xla::Pad(more, xla::Zero(frame.builder(), type), padding);
  return xla::DynamicUpdateSlice(frame, sum, BeginOf(position));
}

XlaOp WindowPositions::PixelsOf(xla::XlaBuilder* builder, const WindowPosition& position, int64_t dimension) const {
  const WindowDimension& d = Of(dimension);
  const XlaOp window = xla::Iota(builder, xla::ShapeUtil::MakeShape(xla::S32, windows_), dimension);
  const XlaOp at = (dimension == 1 ? position.row : position.column) * xla::ScalarLike(position.number, d.rate);
  return window * xla::ScalarLike(window, d.stride) + (at - xla::ScalarLike(at, d.pad_low));
}

XlaOp WindowPositions::IsInside(xla::XlaBuilder* builder, const WindowPosition& position) const {
  const auto inside = [&](int64_t dimension) {
    const XlaOp pixels = PixelsOf(builder, position, dimension);
    return xla::And(xla::Ge(pixels, xla::ZerosLike(pixels)),
                    xla::Lt(pixels, xla::ScalarLike(pixels, images_[dimension])));
  };
  return xla::And(inside(1), inside(2));
}

bool WindowPositions::ExtendBeyondImages() const {
  for (const int64_t i : {1, 2}) {
    if (Of(i).pad_low > 0 || FrameLength(i) - Of(i).pad_low > images_[i]) return true;
  }
  return false;
}

XlaOp WindowPositions::PixelAt(xla::XlaBuilder* builder, const WindowPosition& position) const {
  const XlaOp row = PixelsOf(builder, position, 1);
  return row * xla::ScalarLike(row, images_[2]) + PixelsOf(builder, position, 2);
}

}  // namespace hpu
