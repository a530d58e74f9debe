// Recognisers of pooling: maximum and average of windows, and their gradients.
#ifndef HPU_PLUGIN_BACKENDS_COMMON_HLO_POOLING_H_
#define HPU_PLUGIN_BACKENDS_COMMON_HLO_POOLING_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "plugin/backends/common/hlo/window_reduction.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"

namespace hpu::hlo {

// Windows over one to three spatial dimensions of an array of rank 3 to 5. The windows of the batch and of the features
// are trivial (WindowDimension::IsTrivial).
struct Pooling {
  // Dimensions of the HLO transpose of the image to [batch, spatial…, features]; the identity, or [0, 2…, 1] for an
  // image with features first. xla::InversePermutation transposes results back.
  std::vector<int64_t> permutation;
  // Spatial dimensions of the forward pooling. No input is dilated.
  std::vector<WindowDimension> dimensions;
};

// The maximum of each window; the lowest value for a window without elements. NaN if the window contains NaN.
struct MaxPooling {
  Pooling pooling;
  xla::HloInstruction* image;
};
std::optional<MaxPooling> DescribeMaxPooling(const xla::HloInstruction* reduction);

// How select-and-scatter chooses one element of a window, in row-major order. Both choose the first of equal maxima.
enum class MaxSelection {
  kGreaterEqual,  // replaces the choice unless choice >= element: a NaN gives way to the next element
  kNotLess,       // replaces the choice if choice < element, like TensorFlow's CPU kernels: a NaN counts only if first
};
// The selection that `select` computes on two scalars; nullopt for other functions.
std::optional<MaxSelection> MaxSelectionOf(const xla::HloComputation* select);

// A select-and-scatter that adds each window's gradient to the chosen element of the window. Other elements are 0.
struct MaxScatter {
  MaxSelection selection;
  xla::HloInstruction* image;
  xla::HloInstruction* gradient;            // one element for each window
  std::vector<WindowDimension> dimensions;  // one for each dimension of the image
};
std::optional<MaxScatter> DescribeMaxScatter(const xla::HloInstruction* scatter);

// A MaxScatter over spatial dimensions: the gradient of MaxPooling.
struct MaxPoolingGradient {
  Pooling pooling;
  MaxSelection selection;
  xla::HloInstruction* image;
  xla::HloInstruction* gradient;  // of the pooling's result
};
std::optional<MaxPoolingGradient> DescribeMaxPoolingGradient(const xla::HloInstruction* scatter);

// Divisor of a window's sum.
enum class Divisor {
  kOne,     // a plain sum
  kWindow,  // number of elements of a window, padding included
  kCounts,  // number of the image's elements in the window, padding excluded
};

struct AveragePooling {
  Pooling pooling;
  Divisor divisor;
  xla::HloInstruction* image;
  xla::HloInstruction* sum;  // the reduce-window; its result may have other users
};
// Describes a division of a reduce-window, or a reduce-window as kOne. A division by other values does not match.
std::optional<AveragePooling> DescribeAveragePooling(const xla::HloInstruction* instruction);

// Each image element's gradient is the sum of the divided gradients of the windows that hold the element.
struct AveragePoolingGradient {
  Pooling pooling;  // `permutation` also applies to `gradient`
  Divisor divisor;
  xla::HloInstruction* gradient;  // of the pooling's result, before the division
};
// Describes a reduce-window, or a pad that crops one, as tf2xla emits it for AvgPoolGrad. The pooling's input has the
// instruction's shape. A sum over windows with stride 1 has a gradient of the same form, so such a sum also matches
// DescribeAveragePooling.
std::optional<AveragePoolingGradient> DescribeAveragePoolingGradient(const xla::HloInstruction* instruction);

}  // namespace hpu::hlo

#endif  // HPU_PLUGIN_BACKENDS_COMMON_HLO_POOLING_H_
