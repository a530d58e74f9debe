// Lowerings of QuantizeAndDequantize ops that measure the range of their input. The CPU kernels ignore NaN in the
// input, but NaN would be the limits that tf2xla's lowerings measure.
#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include "plugin/compat/lowering_values.h"
#include "plugin/compiler/compilation_device.h"
#include "plugin/compiler/make_lowering.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "xla/hlo/builder/lib/arithmetic.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/shape_util.h"

namespace hpu {
namespace {

class QuantizeMeasuredLowering : public tensorflow::XlaOpKernel {
 public:
  explicit QuantizeMeasuredLowering(tensorflow::OpKernelConstruction* construction) : XlaOpKernel(construction) {
    OP_REQUIRES_OK(construction, construction->GetAttr("range_given", &range_given_));
    if (construction->HasAttr("axis")) OP_REQUIRES_OK(construction, construction->GetAttr("axis", &axis_));
    absl::StatusOr<std::unique_ptr<tensorflow::OpKernel>> lowering =
        MakeLowering(construction, tensorflow::DEVICE_CPU_XLA_JIT);
    OP_REQUIRES_OK(construction, lowering.status());
    lowering_ = *std::move(lowering);
  }

  void Compile(tensorflow::XlaOpKernelContext* context) override {
    tensorflow::OpKernelContext* const inner = context->op_kernel_context();
    const absl::StatusOr<xla::Shape> shape = context->InputXlaShape(0);
    OP_REQUIRES_OK(context, shape.status());
    // For inner axes, also the CPU kernels' limits are NaN.
    if (range_given_ || axis_ > 0 || axis_ >= shape->dimensions_size()) {
      lowering_->Compute(inner);
      return;
    }
    const xla::XlaOp x = context->Input(0), is_nan = xla::Ne(x, x);
    {
      const OperandReplacement numbers(inner, 0, xla::Select(is_nan, Largest(*shape, x), x));
      lowering_->Compute(inner);
    }
    if (!inner->status().ok()) return;
    OP_REQUIRES_OK(context, ReplaceResult(inner, 0, [&](xla::XlaOp result) { return xla::Select(is_nan, x, result); }));
  }

 private:
  // The largest number of the input, or of each of its rows if the axis is 0, in the input's shape.
  xla::XlaOp Largest(const xla::Shape& shape, xla::XlaOp x) const {
    xla::XlaBuilder* const builder = x.builder();
    const xla::XlaOp lowest = xla::MinValue(builder, shape.element_type());
    std::vector<int64_t> reduced(shape.dimensions_size());
    std::iota(reduced.begin(), reduced.end(), 0);
    if (axis_ >= 0) reduced.erase(reduced.begin() + axis_);
    const xla::XlaOp numbers = xla::Select(xla::Ne(x, x), xla::Broadcast(lowest, shape.dimensions()), x);
    const xla::XlaOp largest =
        xla::Reduce(numbers, lowest, xla::CreateScalarMaxComputation(shape.element_type(), builder), reduced);
    const std::vector<int64_t> kept = axis_ >= 0 ? std::vector<int64_t>{axis_} : std::vector<int64_t>();
    return xla::BroadcastInDim(largest, shape.dimensions(), kept);
  }

  bool range_given_ = false;
  int axis_ = -1;
  std::unique_ptr<tensorflow::OpKernel> lowering_;
};

REGISTER_XLA_OP(Name("QuantizeAndDequantizeV2").Device(kCompilationDevice), QuantizeMeasuredLowering)
REGISTER_XLA_OP(Name("QuantizeAndDequantizeV3").Device(kCompilationDevice), QuantizeMeasuredLowering)
REGISTER_XLA_OP(Name("QuantizeAndDequantizeV4").Device(kCompilationDevice), QuantizeMeasuredLowering)

}  // namespace
}  // namespace hpu
