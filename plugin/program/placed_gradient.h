// How programs say that a call adds the numbers of a gradient at places of images.
#ifndef HPU_PLUGIN_PROGRAM_PLACED_GRADIENT_H_
#define HPU_PLUGIN_PROGRAM_PLACED_GRADIENT_H_

namespace hpu::hal {

// A frontend attribute of HLO's call instructions. Operands: a gradient, float32 [batch, numbers], and places, int64
// and like it; neither is without elements. The result, float32 [batch, elements], is zeros, to which each number is
// added at its place. Places count from the begin of the number's own image ("image") or of the batch ("batch"), and
// may be in another image; numbers whose place is in none are dropped. What is called computes the same from simpler
// instructions: a backend that knows better may replace the call, others need not look at the attribute.
inline constexpr char kPlacedGradientAttribute[] = "hpu_placed_gradient";
inline constexpr char kPlacesOfImage[] = "image";
inline constexpr char kPlacesOfBatch[] = "batch";

}  // namespace hpu::hal

#endif  // HPU_PLUGIN_PROGRAM_PLACED_GRADIENT_H_
