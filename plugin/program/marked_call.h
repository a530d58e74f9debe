// Marked calls: HLO calls that a backend may replace by its own kernel.
#ifndef HPU_PLUGIN_PROGRAM_MARKED_CALL_H_
#define HPU_PLUGIN_PROGRAM_MARKED_CALL_H_

namespace hpu {

// A frontend attribute of HLO call instructions. Its value is the name of an operation in the table below, followed by
// attributes of the operation, separated by spaces: "linear_algebra Qr full_matrices". The called computation defines
// the result with plain HLO instructions. A backend with a better implementation may replace the call; other backends
// ignore the attribute. No operand or result is empty.
//
// | operation                     | operands                                           | result                      |
// |-------------------------------|----------------------------------------------------|-----------------------------|
// | crop_gradient image           | gradient, y, x, image_of_box                       | gradient of the images      |
// | crop_gradient places          | gradient, images, y, x, image_of_box               | [boxes, rows + columns]     |
// | dilation maxima <window>      | images, filter                                     | maxima                      |
// | dilation input <window>       | images, filter, gradient of the maxima             | gradient of the images      |
// | dilation filter <window>      | images, filter, gradient of the maxima             | gradient of the filter      |
// | linear_algebra <op> <flags>   | the op's                                           | the op's                    |
// | placed_gradient image, batch  | gradient f32 [batch, n], places s64 [batch, n]     | f32 [batch, elements]       |
inline constexpr char kOperationAttribute[] = "hpu_operation";

// Gradients of crops of images. The gradient and the crops are f32 [boxes, rows, columns, channels], images f32
// [images, height, width, channels], y f32 [boxes, rows], x f32 [boxes, columns], image_of_box s32 [boxes]. The pixel
// at row i and column j of a box is interpolated bilinearly at (y[box, i], x[box, j]) of image image_of_box[box]. A
// negative coordinate is outside the image. Pixels outside the image, pixels of weight 0 and boxes of nonexistent
// images contribute nothing. The result of "places" is the gradients of y and x, concatenated along dimension 1.
inline constexpr char kCropGradient[] = "crop_gradient";
inline constexpr char kImageGradient[] = "image";
inline constexpr char kPlacesGradient[] = "places";

// A dilation (tf.nn.dilation2d), or one of its gradients. Images are f32 [batch, height, width, channels], filters f32
// [rows, columns, channels], maxima have the rank of images. <window>: stride, rate and pad_low of the rows, then of
// the columns. In each dimension, window `o` contains the pixels o * stride + k * rate - pad_low for 0 <= k < filter
// size that are inside the image.
// - "maxima": the largest sum of a pixel and its filter element in each window. A sum counts only if it is greater
//   than the lowest finite number; NaN never counts. If no sum counts, the maximum is the lowest finite number.
// - "input" and "filter": the gradient of a maximum is added to the pixel, or the filter element, of the maximal sum.
//   If several sums are maximal, the first pixel in row-major order counts. If no sum counts, the gradient is added to
//   the first filter element, and to the first pixel inside the image at or after the window's start, if any.
inline constexpr char kDilation[] = "dilation";
inline constexpr char kDilationMaxima[] = "maxima";
inline constexpr char kDilationInputGradient[] = "input";
inline constexpr char kDilationFilterGradient[] = "filter";

// A linear algebra op: the name of the TensorFlow op, followed by the names of its boolean attributes that are true.
// Results that the op does not compute (compute_uv=false) are omitted.
inline constexpr char kLinearAlgebra[] = "linear_algebra";

// Scatter-adds the elements of a gradient into images of zeros. A place is an offset from the start of the element's
// own image ("image") or of the batch ("batch"), and may point into another image. Elements whose place is outside all
// images are dropped.
inline constexpr char kPlacedGradient[] = "placed_gradient";
inline constexpr char kPlacesOfImage[] = "image";
inline constexpr char kPlacesOfBatch[] = "batch";

}  // namespace hpu

#endif  // HPU_PLUGIN_PROGRAM_MARKED_CALL_H_
