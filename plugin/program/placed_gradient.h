// Frontend attribute for calls that add the numbers of a gradient at places of images.
#ifndef HPU_PLUGIN_PROGRAM_PLACED_GRADIENT_H_
#define HPU_PLUGIN_PROGRAM_PLACED_GRADIENT_H_

namespace hpu::hal {

// A frontend attribute of HLO call instructions. Operands: a gradient, float32 [batch, numbers], and places, int64 of
// the same shape; neither is empty. The result, float32 [batch, elements], is zero except that each number is added at
// its place. Places count from the begin of the number's own image ("image") or of the batch ("batch"). A place may lie
// in another image; numbers whose place lies in no image are dropped. The called computation computes the same with
// simpler instructions. A backend with a better implementation may replace the call; other backends ignore the
// attribute.
inline constexpr char kPlacedGradientAttribute[] = "hpu_placed_gradient";
inline constexpr char kPlacesOfImage[] = "image";
inline constexpr char kPlacesOfBatch[] = "batch";

}  // namespace hpu::hal

#endif  // HPU_PLUGIN_PROGRAM_PLACED_GRADIENT_H_
