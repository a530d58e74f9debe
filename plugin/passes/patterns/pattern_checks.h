// Match conditions that a pattern's text cannot express.
#ifndef HPU_PLUGIN_PASSES_PATTERNS_PATTERN_CHECKS_H_
#define HPU_PLUGIN_PASSES_PATTERNS_PATTERN_CHECKS_H_

#include "plugin/passes/patterns/pattern_match.h"

namespace hpu::passes {

// CheckInstanceNorm accepts two or more $axes [1, 2, …] with weights for each channel. CheckLayerNorm accepts all other
// axes and weights. Both require a scalar $epsilon.
bool CheckLayerNorm(PatternMatch* match);
bool CheckInstanceNorm(PatternMatch* match);

// CheckLayerNorm and CheckInstanceNorm for gradients. Both also require that $sum_axes equals $axes, and that $share,
// if captured, is 1 / the product of $multiples. The gradients of beta and gamma, if matched, must be sums over all
// dimensions that beta and gamma lack.
bool CheckLayerNormGrad(PatternMatch* match);
bool CheckInstanceNormGrad(PatternMatch* match);

// Layer normalisation written as batch normalisation of one sample. $flat_shape is [1, n, m, 1]; m is the product of
// the last dimensions of $shape, or of the dimensions of x from $first on. Sets $axes to these dimensions.
bool CheckFlatNorm(PatternMatch* match);

// Batch normalisation of float32 images with channels last: the mean over $axes [0, 1, 2] and the weights have the
// shape [channels]. Requires a scalar $epsilon. The gradient also requires that $kept_shape is [1, 1, 1, channels] and,
// like CheckLayerNormGrad, that $sum_axes equals $axes and $share belongs to $multiples.
bool CheckBatchNorm(PatternMatch* match);
bool CheckBatchNormGrad(PatternMatch* match);

// $scale and $rate are scalars.
bool CheckScale(PatternMatch* match);

// $min and $max are scalars.
bool CheckRange(PatternMatch* match);

// The data format is NHWC, and $paddings does not pad batch or channels.
bool CheckPaddings(PatternMatch* match);

// The slice of `sizes` at $begin removes the padding from an array of `padded_sizes`; sets $paddings.
bool CheckPaddedInputGrad(PatternMatch* match);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_PATTERNS_PATTERN_CHECKS_H_
