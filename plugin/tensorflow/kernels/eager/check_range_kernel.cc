// HabanaCheckRange: checks the range of random integers on the host, because compiled code cannot raise errors.
#include <string>

#include "plugin/tensorflow/kernels/eager/check_kernel.h"
#include "tensorflow/core/lib/core/errors.h"

namespace hpu {
namespace {

using tensorflow::Tensor;

template <typename Size>
bool HasElements(const Tensor& shape) {
  const auto sizes = shape.flat<Size>();
  for (int64_t i = 0; i < sizes.size(); ++i) {
    if (sizes(i) == 0) return false;
  }
  return true;
}

template <typename T>
class RangeCheck {
 public:
  absl::Status Initialize(tensorflow::OpKernelConstruction* construction) {
    return construction->GetAttr("node", &node_);
  }

  absl::Status Run(absl::Span<const Tensor> inputs) const {
    const Tensor &low = inputs[0], &high = inputs[1], &shape = inputs[2];
    // The op itself reports bounds that are not scalars.
    if (low.NumElements() != 1 || high.NumElements() != 1) return absl::OkStatus();
    const bool draws =
        shape.dtype() == tensorflow::DT_INT64 ? HasElements<int64_t>(shape) : HasElements<int32_t>(shape);
    if (!draws || low.flat<T>()(0) < high.flat<T>()(0)) return absl::OkStatus();
    // TensorFlow's own text.
    return tensorflow::errors::InvalidArgument("Need minval < maxval, got ", low.flat<T>()(0),
                                               " >= ", high.flat<T>()(0), " (", node_, ")");
  }

 private:
  std::string node_;
};

REGISTER_KERNEL_BUILDER(Name("HabanaCheckRange").Device(tensorflow::DEVICE_CPU).TypeConstraint<int32_t>("T"),
                        HostCheckKernel<RangeCheck<int32_t>>);
REGISTER_KERNEL_BUILDER(Name("HabanaCheckRange").Device(tensorflow::DEVICE_CPU).TypeConstraint<int64_t>("T"),
                        HostCheckKernel<RangeCheck<int64_t>>);
REGISTER_KERNEL_BUILDER(Name("HabanaCheckRange").Device(tensorflow::DEVICE_CPU).TypeConstraint<uint32_t>("T"),
                        HostCheckKernel<RangeCheck<uint32_t>>);
REGISTER_KERNEL_BUILDER(Name("HabanaCheckRange").Device(tensorflow::DEVICE_CPU).TypeConstraint<uint64_t>("T"),
                        HostCheckKernel<RangeCheck<uint64_t>>);

}  // namespace
}  // namespace hpu
