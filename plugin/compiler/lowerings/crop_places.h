// Source places of the pixels of crops: boxes of images, each resized to one size.
#ifndef HPU_PLUGIN_COMPILER_LOWERINGS_CROP_PLACES_H_
#define HPU_PLUGIN_COMPILER_LOWERINGS_CROP_PLACES_H_

#include <cstdint>

#include "absl/types/span.h"
#include "xla/client/xla_builder.h"
#include "xla/shape.h"

namespace hpu {

// Order of operations for a box's scale. TensorFlow's kernels multiply the box's size by the image's size, then divide
// by the crop's size. The kernel of the boxes' gradient multiplies by the quotient of the last two instead.
enum class CropScale { kDivided, kMultiplied };

// The places of each crop's pixels in one direction: [boxes, pixels].
struct CropPlaces {
  xla::XlaOp place;   // float32, clamped to the image
  xla::XlaOp inside;  // whether it was in the image before clamping
};

// Places of `boxes`, float32 [count, 4], in images that are `length` long. `direction`: 0 for rows, 1 for columns.
CropPlaces PlacesOf(xla::XlaOp boxes, int64_t count, int64_t direction, int64_t pixels, int64_t length,
                    CropScale scale);

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

#endif  // HPU_PLUGIN_COMPILER_LOWERINGS_CROP_PLACES_H_
