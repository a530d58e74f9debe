// Lowerings of shifts that clamp the shift like the CPU kernels: negative shifts to 0, large shifts to the type's bit
// width - 1.
#include "plugin/compiler/compilation_device.h"
#include "tensorflow/compiler/tf2xla/lib/broadcast.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/primitive_util.h"

namespace hpu {
namespace {

using xla::XlaOp;

XlaOp Left(XlaOp value, XlaOp bits, xla::PrimitiveType) { return xla::ShiftLeft(value, bits); }

XlaOp Right(XlaOp value, XlaOp bits, xla::PrimitiveType type) {
  return xla::primitive_util::IsUnsignedIntegralType(type) ? xla::ShiftRightLogical(value, bits)
                                                           : xla::ShiftRightArithmetic(value, bits);
}

template <XlaOp (*kShift)(XlaOp value, XlaOp bits, xla::PrimitiveType type)>
class ShiftLowering : public tensorflow::XlaOpKernel {
 public:
  using XlaOpKernel::XlaOpKernel;
  void Compile(tensorflow::XlaOpKernelContext* context) override {
    XlaOp value = context->Input(0), bits = context->Input(1);
    OP_REQUIRES_OK(context, tensorflow::BroadcastOpsToSame(&value, &bits));
    const xla::PrimitiveType type = context->input_xla_type(0);
    const XlaOp max = xla::ScalarLike(bits, xla::primitive_util::BitWidth(type) - 1);
    context->SetOutput(0, kShift(value, xla::Clamp(xla::ScalarLike(bits, 0), bits, max), type));
  }
};

REGISTER_XLA_OP(Name("LeftShift").Device(kCompilationDevice), ShiftLowering<Left>)
REGISTER_XLA_OP(Name("RightShift").Device(kCompilationDevice), ShiftLowering<Right>)

}  // namespace
}  // namespace hpu
