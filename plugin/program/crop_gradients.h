// Frontend attribute for calls that compute a gradient of crops of images.
#ifndef HPU_PLUGIN_PROGRAM_CROP_GRADIENTS_H_
#define HPU_PLUGIN_PROGRAM_CROP_GRADIENTS_H_

namespace hpu::hal {

// A frontend attribute of HLO call instructions. Crops are [boxes, rows, columns, channels]. The pixel at row i and
// column j of a box is interpolated linearly at the place (y[box, i], x[box, j]) of the box's image. `image_of_box`
// (int32, [boxes]) is the number of that image. A negative place lies outside. Pixels of weight 0, boxes of nonexistent
// images and pixels from outside do not count. All arrays except image_of_box are float32, and no array is empty. The
// attribute's value selects the operation:
// - "image": the images' gradient [images, height, width, channels]; operands are the crops' gradient, y, x and
//   image_of_box;
// - "places": the gradients of y and x side by side, [boxes, rows + columns]; operands are the crops' gradient, the
//   images, y, x and image_of_box.
// The called computation computes the same with simpler instructions. A backend with a better implementation may
// replace the call; other backends ignore the attribute.
inline constexpr char kCropGradientAttribute[] = "hpu_crop_gradient";
inline constexpr char kImageGradient[] = "image";
inline constexpr char kPlacesGradient[] = "places";

}  // namespace hpu::hal

#endif  // HPU_PLUGIN_PROGRAM_CROP_GRADIENTS_H_
