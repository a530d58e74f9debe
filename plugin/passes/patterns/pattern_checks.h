// Match conditions that a pattern's text cannot express.
#ifndef HPU_PLUGIN_PASSES_PATTERNS_PATTERN_CHECKS_H_
#define HPU_PLUGIN_PASSES_PATTERNS_PATTERN_CHECKS_H_

#include "plugin/passes/patterns/pattern_match.h"

namespace hpu::passes {

// Statistics over axes. With $axes [1, 2, …] and weights for each channel, it is instance normalisation.
bool CheckLayerNorm(PatternMatch* match);
bool CheckInstanceNorm(PatternMatch* match);

// The same for the gradients: $share is 1 / the size of $axes, $sum_axes equals $axes, and the gradients of beta and
// gamma are sums over all other dimensions.
bool CheckLayerNormGrad(PatternMatch* match);
bool CheckInstanceNormGrad(PatternMatch* match);

// Layer normalisation written as batch normalisation of one sample: $flat_shape is [1, n, m, 1], where m is the size of
// the last dimensions of $shape; or m is computed, from dimension $first on. Sets $axes to these dimensions.
bool CheckFlatNorm(PatternMatch* match);

// $scale is a number.
bool CheckScale(PatternMatch* match);

// $min and $max are numbers.
bool CheckRange(PatternMatch* match);

// $paddings does not pad batch or channels.
bool CheckPaddings(PatternMatch* match);

// `sizes` at $begin is the part of `padded_sizes` without the padding; sets $paddings.
bool CheckPaddedInputGrad(PatternMatch* match);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_PATTERNS_PATTERN_CHECKS_H_
