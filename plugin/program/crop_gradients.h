// How programs say that a call computes a gradient of crops of images as a whole.
#ifndef HPU_PLUGIN_PROGRAM_CROP_GRADIENTS_H_
#define HPU_PLUGIN_PROGRAM_CROP_GRADIENTS_H_

namespace hpu::hal {

// A frontend attribute of HLO's call instructions. Crops are [boxes, rows, columns, channels]. The pixel at row i and
// column j of a box comes from the place (y[box, i], x[box, j]) of the image that `image_of_box` (int32, [boxes])
// names, between whose pixels is interpolated linearly; a place that is negative lies outside. Pixels whose weight is
// 0, boxes of images that there are not, and what comes from outside do not count. All but image_of_box is float32, and
// no array is without elements. The attribute's value says what is computed of which operands:
// - "image": the images' gradient [images, height, width, channels], of the crops' gradient, y, x and image_of_box;
// - "places": the gradients of y and x side by side, [boxes, rows + columns], of the crops' gradient, the images, y, x
//   and image_of_box.
// What is called computes the same from simpler instructions: a backend that knows better may replace the call, others
// need not look at the attribute.
inline constexpr char kCropGradientAttribute[] = "hpu_crop_gradient";
inline constexpr char kImageGradient[] = "image";
inline constexpr char kPlacesGradient[] = "places";

}  // namespace hpu::hal

#endif  // HPU_PLUGIN_PROGRAM_CROP_GRADIENTS_H_
