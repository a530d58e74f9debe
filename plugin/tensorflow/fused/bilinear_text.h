// Text of decompositions that sample images bilinearly, in the notation of op_text.h.
#ifndef HPU_PLUGIN_TENSORFLOW_FUSED_BILINEAR_TEXT_H_
#define HPU_PLUGIN_TENSORFLOW_FUSED_BILINEAR_TEXT_H_

#include <string>
#include <string_view>

namespace hpu {

// An expression for the element `index` of the vector `values`.
std::string Element(std::string_view values, int index, std::string_view type = "int32");

// Statements for the two neighbours of the coordinates `at` (float32), in an axis of images with `size` elements
// (int32). `size` is a scalar or, if `clamped`, may have one dimension less than `at`.
//
//   <prefix>_index0, <prefix>_index1    int32 indices, clamped to the image
//   <prefix>_part0, <prefix>_part1      float32 weights
//
// `clamped`: coordinates outside count as the nearest edge. Otherwise neighbours outside the image have weight 0.
std::string Neighbours(std::string_view prefix, std::string_view at, std::string_view size, bool clamped);

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_FUSED_BILINEAR_TEXT_H_
