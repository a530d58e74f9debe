// Lowerings of MaxPool that ignore NaN, like the CPU kernels; tf2xla's lowerings propagate NaN. Arguments are checked
// beforehand (pooling_rules.h).
#include <cstdint>
#include <string>
#include <vector>

#include "plugin/compiler/compilation_device.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "tensorflow/core/util/padding.h"
#include "xla/client/lib/arithmetic.h"
#include "xla/client/lib/constants.h"
#include "xla/client/padding.h"
#include "xla/client/xla_builder.h"
#include "xla/primitive_util.h"

namespace hpu {
namespace {

using tensorflow::OpKernelConstruction;
using tensorflow::XlaOpKernelContext;
using xla::XlaOp;

class MaxPoolLowering : public tensorflow::XlaOpKernel {
 public:
  explicit MaxPoolLowering(OpKernelConstruction* construction) : XlaOpKernel(construction) {
    if (construction->num_inputs() == 1) {
      OP_REQUIRES_OK(construction, construction->GetAttr("ksize", &sizes_));
      OP_REQUIRES_OK(construction, construction->GetAttr("strides", &strides_));
    }
    OP_REQUIRES_OK(construction, construction->GetAttr("padding", &padding_));
  }

  void Compile(XlaOpKernelContext* context) override {
    std::vector<int64_t> sizes = sizes_, strides = strides_;
    if (context->num_inputs() == 3) {
      OP_REQUIRES_OK(context, context->ConstantInputAsIntVector(1, &sizes));
      OP_REQUIRES_OK(context, context->ConstantInputAsIntVector(2, &strides));
    }
    const xla::PrimitiveType type = context->input_xla_type(0);
    xla::XlaBuilder* const builder = context->builder();
    XlaOp images = context->Input(0);
    if (xla::primitive_util::IsFloatingPointType(type)) {
      // The maximum of a window of NaN is -inf for bfloat16 (oneDNN's kernels, except MaxPoolV2). For other types, the
      // maximum is the lowest finite value.
      const bool finite = type != xla::BF16 || context->num_inputs() == 3;
      const XlaOp min = finite ? xla::MinFiniteValue(builder, type) : xla::MinValue(builder, type);
      images = xla::Select(xla::Gt(images, min), images, min);
    }
    const xla::Padding padding = padding_ == tensorflow::VALID ? xla::Padding::kValid : xla::Padding::kSame;
    context->SetOutput(0, xla::ReduceWindow(images, xla::MinValue(builder, type),
                                            xla::CreateScalarMaxComputation(type, builder), sizes, strides, padding));
  }

 private:
  std::vector<int64_t> sizes_;
  std::vector<int64_t> strides_;
  tensorflow::Padding padding_;
};

REGISTER_XLA_OP(Name("MaxPool").Device(kCompilationDevice), MaxPoolLowering)
REGISTER_XLA_OP(Name("MaxPool3D").Device(kCompilationDevice), MaxPoolLowering)
REGISTER_XLA_OP(
    Name("MaxPoolV2").Device(kCompilationDevice).CompileTimeConstantInput("ksize").CompileTimeConstantInput("strides"),
    MaxPoolLowering)

}  // namespace
}  // namespace hpu
