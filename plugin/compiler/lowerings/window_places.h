// Windows that move over images [batch, height, width, channels], looked at place by place.
#ifndef HPU_PLUGIN_COMPILER_LOWERINGS_WINDOW_PLACES_H_
#define HPU_PLUGIN_COMPILER_LOWERINGS_WINDOW_PLACES_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "tensorflow/core/util/padding.h"
#include "xla/client/xla_builder.h"

namespace hpu {

// Window `o` of a dimension holds the pixels o * stride + k * rate - pad_low, k < window, as far as there are such.
struct WindowDimension {
  int64_t window = 1;
  int64_t stride = 1;
  int64_t rate = 1;
  int64_t pad_low = 0;
};

// A place in all windows, and its number in row-major order: int32 scalars.
struct WindowPlace {
  xla::XlaOp number;
  xla::XlaOp row;
  xla::XlaOp column;
};

class WindowPlaces {
 public:
  // Takes the next values for one place.
  using Step = std::function<std::vector<xla::XlaOp>(const WindowPlace& place, absl::Span<const xla::XlaOp> constants,
                                                     absl::Span<const xla::XlaOp> values)>;
  enum class Order { kForwards, kBackwards };

  // Of windows over images of these dimensions, padded as TensorFlow does, which gives pad_low.
  static absl::StatusOr<WindowPlaces> Make(absl::Span<const int64_t> images, WindowDimension rows,
                                           WindowDimension columns, tensorflow::Padding padding);

  const WindowDimension& rows() const { return rows_; }
  const WindowDimension& columns() const { return columns_; }
  int64_t places() const { return rows_.window * columns_.window; }
  // Of images, and of one element for each window.
  const std::vector<int64_t>& images() const { return images_; }
  const std::vector<int64_t>& windows() const { return windows_; }

  // The values after one step for each place. Steps are a loop of the program: they work with what they get and with
  // no other values. Written out they would be no faster, and take longer to compile.
  absl::StatusOr<std::vector<xla::XlaOp>> Fold(Order order, const std::vector<xla::XlaOp>& constants,
                                               const std::vector<xla::XlaOp>& values, const Step& step) const;

  // Images without what no window holds, and with `fill` where windows stand out: a frame.
  xla::XlaOp FrameOf(xla::XlaOp images, xla::XlaOp fill) const;
  xla::XlaOp FrameOf(xla::XlaOp fill) const;  // without images
  // A frame's elements at a place in each window, like windows().
  xla::XlaOp At(xla::XlaOp frame, const WindowPlace& place) const;
  // The frame after `more`, like windows(), was added there.
  xla::XlaOp AddedAt(xla::XlaOp frame, const WindowPlace& place, xla::XlaOp more) const;
  // Images of a frame, with zeros where no window is.
  xla::XlaOp ImagesOf(xla::XlaOp frame) const;
  // Whether some window holds places that are not in the image.
  bool StandOut() const;
  // Whether the place is in the image, like windows().
  xla::XlaOp IsInside(xla::XlaBuilder* builder, const WindowPlace& place) const;
  // The number of the pixel at this place of each window in its image, int32, like windows().
  xla::XlaOp PixelAt(xla::XlaBuilder* builder, const WindowPlace& place) const;

 private:
  WindowPlaces() = default;
  WindowPlace PlaceOf(xla::XlaOp number, Order order) const;
  std::vector<xla::XlaOp> BeginOf(const WindowPlace& place) const;
  // The pixels of windows at a place in dimension 1 or 2, like windows().
  xla::XlaOp PixelsOf(xla::XlaBuilder* builder, const WindowPlace& place, int64_t dimension) const;
  int64_t FrameLength(int64_t dimension) const;
  xla::PaddingConfig FramePadding(bool inverse) const;
  const WindowDimension& Of(int64_t dimension) const { return dimension == 1 ? rows_ : columns_; }

  WindowDimension rows_;
  WindowDimension columns_;
  std::vector<int64_t> images_;
  std::vector<int64_t> windows_;
};

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_LOWERINGS_WINDOW_PLACES_H_
