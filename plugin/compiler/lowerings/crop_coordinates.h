// Sampling coordinates and pixel reads for the CropAndResize lowerings.
#ifndef HPU_PLUGIN_COMPILER_LOWERINGS_CROP_COORDINATES_H_
#define HPU_PLUGIN_COMPILER_LOWERINGS_CROP_COORDINATES_H_

#include <cstdint>

#include "absl/types/span.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/shape.h"

namespace hpu {

// Order of operations for the distance between pixels. CropAndResize and CropAndResizeGradImage compute box size *
// (image size - 1) / (crop size - 1). CropAndResizeGradBoxes multiplies by (image size - 1) / (crop size - 1) instead.
enum class CropScale { kDivided, kMultiplied };

// Sampling coordinates along one axis: arrays [boxes, pixels].
struct SamplingCoordinates {
  xla::XlaOp value;   // float32, clamped to the image
  xla::XlaOp inside;  // whether the coordinate was in the image before clamping
};

// Sampling coordinates of each crop's pixels along one axis of the image. `boxes`: float32 [count, 4], whose
// coordinates are fractions of (image size - 1). `direction`: 0 for y, 1 for x. `pixels` and `length`: size of the crop
// and of the image along the axis.
SamplingCoordinates SamplingCoordinatesOf(xla::XlaOp boxes, int64_t count, int64_t direction, int64_t pixels,
                                          int64_t length, CropScale scale);

// Reads pixels of images [batch, height, width, channels].
class CropReader {
 public:
  CropReader(xla::XlaOp images, const xla::Shape& shape, xla::XlaOp image_of_box);

  // Pixels at integral coordinates [boxes, height] and [boxes, width]: float32 [boxes, height, width, channels].
  xla::XlaOp At(xla::XlaOp y, xla::XlaOp x, absl::Span<const int64_t> to) const;

 private:
  const xla::XlaOp rows_;
  const xla::XlaOp image_of_box_;
  const int64_t height_;
  const int64_t width_;
};

// Row-major index of a pixel in the whole batch, for integral coordinates: int32 [boxes, height, width].
xla::XlaOp CropPixel(xla::XlaOp image_of_box, xla::XlaOp y, xla::XlaOp x, int64_t height, int64_t width,
                     absl::Span<const int64_t> pixels);

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_LOWERINGS_CROP_COORDINATES_H_
