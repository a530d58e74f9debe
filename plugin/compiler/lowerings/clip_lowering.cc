// Lowering of ClipByValue that matches the CPU kernel for limits that are NaN or in the wrong order.
#include "absl/strings/str_cat.h"
#include "plugin/compiler/compilation_device.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/shape_util.h"

namespace hpu {
namespace {

using tensorflow::XlaOpKernelContext;

class ClipByValueLowering : public tensorflow::XlaOpKernel {
 public:
  using XlaOpKernel::XlaOpKernel;

  void Compile(XlaOpKernelContext* context) override {
    // Newer XLA compares complex numbers, by another order than the CPU kernel.
    OP_REQUIRES(context, !tensorflow::DataTypeIsComplex(input_type(0)),
                absl::UnimplementedError("ClipByValue of complex numbers cannot be compiled"));
    const xla::XlaOp x = context->Input(0), low = Limit(context, 1), high = Limit(context, 2);
    if (!context->status().ok()) return;
    const xla::XlaOp below = xla::Select(xla::Lt(high, x), high, x);
    context->SetOutput(0, xla::Select(xla::Lt(below, low), low, below));
  }

 private:
  static xla::XlaOp Limit(XlaOpKernelContext* context, int input) {
    const absl::StatusOr<xla::Shape> values = context->InputXlaShape(0), limit = context->InputXlaShape(input);
    if (!values.ok() || !limit.ok() || xla::ShapeUtil::SameDimensions(*limit, *values)) return context->Input(input);
    if (limit->dimensions_size() == 0) return xla::Broadcast(context->Input(input), values->dimensions());
    // TensorFlow's own text.
    context->SetStatus(absl::InvalidArgumentError(absl::StrCat(
        "clip_value_min and clip_value_max must be either of the same shape as input, or a scalar. ", "input shape: ",
        values->ToString(), input == 1 ? ", clip_value_min" : ", clip_value_max", " shape: ", limit->ToString())));
    return context->Input(input);
  }
};

REGISTER_XLA_OP(Name("ClipByValue").Device(kCompilationDevice), ClipByValueLowering)

}  // namespace
}  // namespace hpu
