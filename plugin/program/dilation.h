// How programs say that a call computes a dilation of images, or one of its gradients.
#ifndef HPU_PLUGIN_PROGRAM_DILATION_H_
#define HPU_PLUGIN_PROGRAM_DILATION_H_

namespace hpu::hal {

// A frontend attribute of HLO's call instructions. Images are [batch, height, width, channels], filters [rows, columns,
// channels], float32 as all else; no array is without elements. Window `o` of a dimension holds the pixels
// o * stride + k * rate - pad_low, k < window, as far as there are such. The attribute's value says what is computed of
// which operands, and then stride, rate and pad_low of the rows and those of the columns: "maxima 1 1 1 1 1 1".
// - "maxima", of images and a filter: of each window, the greatest sum of a pixel and its place in the filter, [batch,
//   rows, columns, channels]. A sum that is NaN or no greater than the lowest finite number does not count; where none
//   does, the maximum is that number;
// - "input" and "filter", of images, filter and the maxima's gradient: the gradients of images and filter. A maximum's
//   goes to the first pixel, in row-major order, that made it. Where no sum counts, it goes to the pixel at the
//   window's begin, or to the first behind it that is in the image, if there is one, and to the filter's first place.
// What is called computes the same from simpler instructions: a backend that knows better may replace the call, others
// need not look at the attribute.
inline constexpr char kDilationAttribute[] = "hpu_dilation";
inline constexpr char kDilationMaxima[] = "maxima";
inline constexpr char kDilationInputGradient[] = "input";
inline constexpr char kDilationFilterGradient[] = "filter";

}  // namespace hpu::hal

#endif  // HPU_PLUGIN_PROGRAM_DILATION_H_
