// Recogniser of convolutions: an HLO convolution as TensorFlow's forward convolution or one of its gradients.
#ifndef HPU_PLUGIN_BACKENDS_COMMON_HLO_CONVOLUTION_H_
#define HPU_PLUGIN_BACKENDS_COMMON_HLO_CONVOLUTION_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "xla/hlo/ir/hlo_instruction.h"

namespace hpu::hlo {

// A convolution of one to three spatial dimensions. Fields are named after the forward direction. Canonical arrays:
//   image  [batch, spatial…, input_features]                    b01f
//   filter [window…, input_features / groups, output_features]  01io
//   result [batch, spatial…, output_features]                   b01f
// Each kind computes the image, filter or result from the two other arrays.
struct Convolution {
  enum class Kind {
    kForward,         // (image, filter) to result
    kInputGradient,   // (gradient of the result, filter) to the gradient of the image; also a transposed convolution
    kFilterGradient,  // (image, gradient of the result) to the gradient of the filter
  };
  // A spatial dimension of the forward convolution. Result o sums the padded elements o * stride + k * dilation,
  // k < window. `output` results fit exactly: (input + pad_low + pad_high - (window - 1) * dilation - 1) / stride + 1.
  // Negative padding crops. For gradients, pad_high follows from the sizes.
  struct Dimension {
    int64_t input = 0;
    int64_t output = 0;
    int64_t window = 0;
    int64_t stride = 1;
    int64_t dilation = 1;
    int64_t pad_low = 0;
    int64_t pad_high = 0;
  };
  struct Operand {
    xla::HloInstruction* value;
    // Dimensions of the HLO transpose of `value` to the canonical order; the identity if `value` is canonical.
    std::vector<int64_t> permutation;
  };

  Kind kind = Kind::kForward;
  int64_t batch = 0;
  int64_t input_features = 0;
  int64_t output_features = 0;
  int64_t groups = 1;
  std::vector<Dimension> dimensions;

  // The operands in the order that `kind` states.
  Operand lhs;
  Operand rhs;
  // Dimensions of the HLO transpose of the canonical result to the HLO's result.
  std::vector<int64_t> result_permutation;

  // HLO convolves with a reversed filter to compute kInputGradient.
  enum class Reversal {
    kNone,     // another kind, or no window dimension has several elements
    kRemoved,  // rhs.value is the operand of a reversal of the window dimensions
    kNeeded,   // the filter is rhs.value with all window dimensions reversed
  };
  Reversal reversal = Reversal::kNone;
  // Whether rhs.value, in canonical order, is [window…, input_features, output_features / groups], as tf2xla arranges
  // the groups for kInputGradient. Steps to the canonical filter: reshape to [window…, groups, input_features / groups,
  // output_features / groups], swap the two dimensions after the window, reshape. With one input feature per group,
  // one reshape suffices. Always false for one group.
  bool groups_in_input_features = false;

  // Whether all arrays are canonical, so that no transpose is needed.
  bool IsCanonical() const;
};

// Describes an HLO convolution. Convolutions that tf2xla emits keep their kind, for NHWC and for NCHW. Describes other
// convolutions as kForward, or as kInputGradient if the input is dilated. Nullopt for other instructions, for none or
// more than three spatial dimensions, for dynamic shapes, and for arrays without elements. Nullopt for convolutions of
// no kind: window reversal, a dilated input with a stride, batch groups with a dilated input.
std::optional<Convolution> DescribeConvolution(const xla::HloInstruction* convolution);

}  // namespace hpu::hlo

#endif  // HPU_PLUGIN_BACKENDS_COMMON_HLO_CONVOLUTION_H_
