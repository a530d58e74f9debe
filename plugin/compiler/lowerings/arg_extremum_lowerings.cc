// Lowerings of ArgMax and ArgMin that ignore NaN, as TensorFlow's CPU kernels do. tf2xla's lowerings return the
// position of the first NaN.
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "plugin/compiler/compilation_device.h"
#include "plugin/compiler/dynamic_shapes/size_numbers.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "xla/hlo/builder/lib/arithmetic.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/primitive_util.h"

namespace hpu {
namespace {

using tensorflow::XlaOpKernelContext;
using xla::XlaOp;

template <bool kMaximum>
class ArgExtremumLowering final : public tensorflow::XlaOpKernel {
 public:
  using XlaOpKernel::XlaOpKernel;

  void Compile(XlaOpKernelContext* context) override {
    const tensorflow::TensorShape shape = context->InputShape(0);
    int64_t dimension = 0;
    OP_REQUIRES_OK(context, context->ConstantInputAsIntScalar(1, &dimension));
    const int64_t axis = dimension < 0 ? dimension + shape.dims() : dimension;
    // TensorFlow's own texts.
    OP_REQUIRES(context, axis >= 0 && axis < shape.dims(),
                absl::InvalidArgumentError(absl::StrCat("Expected dimension in the range [", -shape.dims(), ", ",
                                                        shape.dims(), "), but got ", dimension)));
    OP_REQUIRES(context, shape.dim_size(static_cast<int>(axis)) > 0,
                absl::InvalidArgumentError(
                    absl::StrCat("Reduction axis ", dimension, " is empty in shape ", shape.DebugString())));
    XlaOp values = context->Input(0);
    const absl::StatusOr<xla::Shape> values_shape = context->InputXlaShape(0);
    OP_REQUIRES_OK(context, values_shape.status());
    RequireAtLeast(context->builder(), SizeOf(values, *values_shape, axis), SizeNumber::Known(1));
    const xla::PrimitiveType type = context->input_xla_type(0);
    if (xla::primitive_util::IsFloatingPointType(type)) {
      xla::XlaBuilder* const builder = context->builder();
      const XlaOp last = kMaximum ? xla::MinValue(builder, type) : xla::MaxValue(builder, type);
      values = xla::Select(xla::Ne(values, values), last + xla::ZerosLike(values), values);
    }
    const xla::PrimitiveType index = context->output_xla_type(0);
    context->SetOutput(0, xla::ArgMinMax(values, index, axis, /*is_min=*/!kMaximum));
  }
};

REGISTER_XLA_OP(Name("ArgMax").Device(kCompilationDevice).CompileTimeConstantInput("dimension"),
                ArgExtremumLowering<true>)
REGISTER_XLA_OP(Name("ArgMin").Device(kCompilationDevice).CompileTimeConstantInput("dimension"),
                ArgExtremumLowering<false>)

}  // namespace
}  // namespace hpu
