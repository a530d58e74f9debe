// Kernels for convolutions and their gradients.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_CONVOLUTION_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_CONVOLUTION_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "plugin/backends/emulator/kernels/kernel.h"

namespace hpu::emulator {

// A convolution of two or three spatial dimensions. Fields are named after the forward direction: image [batch,
// spatial…, input_features], filter [window…, input_features / groups, output_features], result [batch, spatial…,
// output_features]. Each kernel computes the result, or the gradient of the image or of the filter.
struct Convolution {
  enum class Kind : int64_t {
    kForward = 0,         // image, filter
    kInputGradient = 1,   // gradient of the result, filter
    kFilterGradient = 2,  // image, gradient of the result
  };
  enum class Type : int64_t { kFloat32 = 0, kBfloat16 = 1, kFloat64 = 2 };
  struct Dimension {
    int64_t input = 0;
    int64_t output = 0;
    int64_t window = 0;
    int64_t stride = 1;
    int64_t dilation = 1;
    int64_t pad_low = 0;
    int64_t pad_high = 0;
  };
  Kind kind = Kind::kForward;
  bool bias = false;  // whether a third operand [output_features] is added; see constant_filter
  Type type = Type::kFloat32;
  // Whether all calls use the same filter, so that oneDNN packs the filter only once. `bias` and `constant_filter`
  // require oneDNN and a kForward convolution in two dimensions that is not depthwise.
  bool constant_filter = false;
  int64_t batch = 0;
  int64_t input_features = 0;
  int64_t output_features = 0;
  int64_t groups = 1;
  std::vector<Dimension> dimensions;

  // Whether TensorFlow's ops for depthwise convolutions compute this convolution. The depthwise gradient ops do not
  // support dilation, so dilated gradients are computed as grouped convolutions.
  bool depthwise() const;
  bool dilated() const;
  // Whether the padding is TensorFlow's "SAME" or "VALID".
  bool HasNamedPadding() const;
  // Whether oneDNN computes this convolution on this processor.
  bool UsesOneDnn() const;
  // InvalidArgument unless all sizes are positive and consistent.
  absl::Status Check() const;
  KernelSpec Spec() const;
  static absl::StatusOr<Convolution> Parse(absl::Span<const int64_t> parameters);
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_CONVOLUTION_H_
