// Frontend attribute for calls that compute a dilation of images or one of its gradients.
#ifndef HPU_PLUGIN_PROGRAM_DILATION_H_
#define HPU_PLUGIN_PROGRAM_DILATION_H_

namespace hpu::hal {

// A frontend attribute of HLO call instructions. Images are [batch, height, width, channels], filters [rows, columns,
// channels]. All arrays are float32, and none is empty. Window `o` of a dimension holds the existing pixels among
//   o * stride + k * rate - pad_low, k < window.
// The attribute's value is the operation, followed by stride, rate and pad_low of the rows, then of the columns:
// "maxima 1 1 1 1 1 1".
// - "maxima", of images and a filter: each window's greatest sum of a pixel and its place in the filter, [batch, rows,
//   columns, channels]. A sum counts only if it is greater than the lowest finite number; NaN never counts. If no sum
//   counts, the maximum is the lowest finite number;
// - "input" and "filter", of images, filter and the maxima's gradient: the gradients of images and filter. A maximum's
//   gradient goes to the first pixel, in row-major order, that produced the maximum. If no sum counts, it goes to the
//   filter's first place, and to the pixel at the window's begin or the first existing pixel behind it, if any.
// The called computation computes the same with simpler instructions. A backend with a better implementation may
// replace the call; other backends ignore the attribute.
inline constexpr char kDilationAttribute[] = "hpu_dilation";
inline constexpr char kDilationMaxima[] = "maxima";
inline constexpr char kDilationInputGradient[] = "input";
inline constexpr char kDilationFilterGradient[] = "filter";

}  // namespace hpu::hal

#endif  // HPU_PLUGIN_PROGRAM_DILATION_H_
