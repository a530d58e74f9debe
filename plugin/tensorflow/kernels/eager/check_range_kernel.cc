// HabanaCheckRange: checks the range of random integers on the host, because compiled code cannot raise errors.
#include <string>

#include "plugin/tensorflow/kernels/eager/check_kernel.h"
#include "tensorflow/core/framework/op_kernel.h"
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
class CheckRangeKernel : public CheckKernel {
 public:
  explicit CheckRangeKernel(tensorflow::OpKernelConstruction* construction) : CheckKernel(construction) {
    OP_REQUIRES_OK(construction, construction->GetAttr("node", &node_));
  }

  bool IsExpensive() override { return false; }

 protected:
  void Check(tensorflow::OpKernelContext* context) const override {
    const Tensor& low = context->input(0);
    const Tensor& high = context->input(1);
    const Tensor& shape = context->input(2);
    // The op itself reports bounds that are not scalars.
    if (low.NumElements() != 1 || high.NumElements() != 1) return;
    const bool draws =
        shape.dtype() == tensorflow::DT_INT64 ? HasElements<int64_t>(shape) : HasElements<int32_t>(shape);
    // TensorFlow's own text.
    OP_REQUIRES(context, !draws || low.flat<T>()(0) < high.flat<T>()(0),
                tensorflow::errors::InvalidArgument("Need minval < maxval, got ", low.flat<T>()(0),
                                                    " >= ", high.flat<T>()(0), " (", node_, ")"));
  }

 private:
  std::string node_;
};

REGISTER_KERNEL_BUILDER(Name("HabanaCheckRange").Device(tensorflow::DEVICE_CPU).TypeConstraint<int32_t>("T"),
                        CheckRangeKernel<int32_t>);
REGISTER_KERNEL_BUILDER(Name("HabanaCheckRange").Device(tensorflow::DEVICE_CPU).TypeConstraint<int64_t>("T"),
                        CheckRangeKernel<int64_t>);
REGISTER_KERNEL_BUILDER(Name("HabanaCheckRange").Device(tensorflow::DEVICE_CPU).TypeConstraint<uint32_t>("T"),
                        CheckRangeKernel<uint32_t>);
REGISTER_KERNEL_BUILDER(Name("HabanaCheckRange").Device(tensorflow::DEVICE_CPU).TypeConstraint<uint64_t>("T"),
                        CheckRangeKernel<uint64_t>);

}  // namespace
}  // namespace hpu
