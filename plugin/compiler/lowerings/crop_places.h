// Where the pixels of crops come from: boxes of images, each resized to one size.
#ifndef HPU_PLUGIN_COMPILER_LOWERINGS_CROP_PLACES_H_
#define HPU_PLUGIN_COMPILER_LOWERINGS_CROP_PLACES_H_

#include <cstdint>

#include "absl/types/span.h"
#include "xla/client/xla_builder.h"
#include "xla/shape.h"

namespace hpu {

// TensorFlow's kernels multiply a box's extent by the image's and then divide by the crop's, but those of the boxes'
// gradient multiply by the quotient.
enum class CropScale { kDivided, kMultiplied };

// Of each crop in one direction: [boxes, pixels].
struct CropPlaces {
  xla::XlaOp place;   // float32, within the image
  xla::XlaOp inside;  // whether it was before
};

// Of `boxes`, float32 [count, 4], in images that are `length` long. `direction`: 0 from row to row, 1 from column to
// column.
CropPlaces PlacesOf(xla::XlaOp boxes, int64_t count, int64_t direction, int64_t pixels, int64_t length,
                    CropScale scale);

// Reads pixels of images [batch, height, width, channels].
class CropReader {
 public:
  CropReader(xla::XlaOp images, const xla::Shape& shape, xla::XlaOp image_of_box);

  // At whole places [boxes, height] and [boxes, width]: float32 [boxes, height, width, channels].
  xla::XlaOp At(xla::XlaOp y, xla::XlaOp x, absl::Span<const int64_t> to) const;

 private:
  const xla::XlaOp rows_;
  const xla::XlaOp image_of_box_;
  const int64_t height_;
  const int64_t width_;
};

// The number of a pixel among those of all images, int32 [boxes, height, width], at whole places.
xla::XlaOp CropPixel(xla::XlaOp image_of_box, xla::XlaOp y, xla::XlaOp x, int64_t height, int64_t width,
                     absl::Span<const int64_t> pixels);

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_LOWERINGS_CROP_PLACES_H_
