// Sliding windows over images [batch, height, width, channels], processed one window position at a time.
#ifndef HPU_PLUGIN_COMPILER_LOWERINGS_WINDOW_POSITIONS_H_
#define HPU_PLUGIN_COMPILER_LOWERINGS_WINDOW_POSITIONS_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tensorflow/core/util/padding.h"
#include "xla/hlo/builder/xla_builder.h"

namespace hpu {

// Window `o` of a dimension contains the existing pixels among o * stride + k * rate - pad_low, for 0 <= k < window.
struct WindowDimension {
  int64_t window = 1;
  int64_t stride = 1;
  int64_t rate = 1;
  int64_t pad_low = 0;
};

// One position within every window, and its number in row-major order: int32 scalars.
struct WindowPosition {
  xla::XlaOp number;
  xla::XlaOp row;
  xla::XlaOp column;
};

class WindowPositions {
 public:
  // Computes the next values for one position.
  using Step = std::function<std::vector<xla::XlaOp>(
      const WindowPosition& position, absl::Span<const xla::XlaOp> constants, absl::Span<const xla::XlaOp> values)>;
  enum class Order { kForwards, kBackwards };

  // Windows over images with the dimensions `images`. `padding` determines pad_low, as in TensorFlow. Errors name `op`.
  static absl::StatusOr<WindowPositions> Make(absl::string_view op, absl::Span<const int64_t> images,
                                              WindowDimension rows, WindowDimension columns,
                                              tensorflow::Padding padding);

  const WindowDimension& rows() const { return rows_; }
  const WindowDimension& columns() const { return columns_; }
  int64_t positions() const { return rows_.window * columns_.window; }
  // Dimensions of the images, and of an array with one element per window.
  const std::vector<int64_t>& images() const { return images_; }
  const std::vector<int64_t>& windows() const { return windows_; }

  // Applies one step per position to `values`. The steps become the body of a loop in the program, so a step may use no
  // XlaOps other than its arguments. An unrolled loop would be no faster and take longer to compile.
  absl::StatusOr<std::vector<xla::XlaOp>> Fold(Order order, const std::vector<xla::XlaOp>& constants,
                                               const std::vector<xla::XlaOp>& values, const Step& step) const;

  // A frame: the images cropped or padded to the area that the windows cover. Padding is `fill`.
  xla::XlaOp FrameOf(xla::XlaOp images, xla::XlaOp fill) const;
  xla::XlaOp FrameOf(xla::XlaOp fill) const;  // filled with `fill` alone
  // The frame's elements at this position of each window, shaped like windows().
  xla::XlaOp At(xla::XlaOp frame, const WindowPosition& position) const;
  // Adds `more` (shaped like windows()) to the frame's elements at this position of each window; returns the new frame.
  xla::XlaOp AddedAt(xla::XlaOp frame, const WindowPosition& position, xla::XlaOp more) const;
  // Inverse of FrameOf: the images in a frame. Pixels outside all windows are 0.
  xla::XlaOp ImagesOf(xla::XlaOp frame) const;
  // Whether some window extends beyond the image.
  bool ExtendBeyondImages() const;
  // Whether this position of each window lies in the image, shaped like windows().
  xla::XlaOp IsInside(xla::XlaBuilder* builder, const WindowPosition& position) const;
  // Row-major index, within its image, of the pixel at this position of each window: int32, shaped like windows().
  xla::XlaOp PixelAt(xla::XlaBuilder* builder, const WindowPosition& position) const;

 private:
  WindowPositions() = default;
  WindowPosition PositionOf(xla::XlaOp number, Order order) const;
  std::vector<xla::XlaOp> BeginOf(const WindowPosition& position) const;
  // Row (dimension 1) or column (dimension 2) of the pixel at this position of each window, shaped like windows().
  xla::XlaOp PixelsOf(xla::XlaBuilder* builder, const WindowPosition& position, int64_t dimension) const;
  int64_t FrameLength(int64_t dimension) const;
  xla::PaddingConfig FramePadding(bool inverse) const;
  const WindowDimension& Of(int64_t dimension) const { return dimension == 1 ? rows_ : columns_; }

  WindowDimension rows_;
  WindowDimension columns_;
  std::vector<int64_t> images_;
  std::vector<int64_t> windows_;
};

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_LOWERINGS_WINDOW_POSITIONS_H_
