// Lowerings of MaxPool that ignore NaN, like the CPU kernels; tf2xla's lowerings propagate NaN. Arguments are checked
// beforehand (pooling_rules.h).
#include <cstdint>
#include <string>
#include <vector>

#include "plugin/compiler/compilation_device.h"
#include "plugin/compiler/lowerings/pool_padding.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "xla/hlo/builder/lib/arithmetic.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/xla_builder.h"
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
    OP_REQUIRES_OK(construction, padding_.Initialize(construction));
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
    const absl::StatusOr<xla::Shape> shape = context->InputXlaShape(0);
    OP_REQUIRES_OK(context, shape.status());
    context->SetOutput(0, xla::ReduceWindowWithGeneralPadding(images, xla::MinValue(builder, type),
                                                              xla::CreateScalarMaxComputation(type, builder), sizes,
                                                              strides, /*base_dilations=*/{}, /*window_dilations=*/{},
                                                              padding_.Of(shape->dimensions(), sizes, strides)));
  }

 private:
  std::vector<int64_t> sizes_;
  std::vector<int64_t> strides_;
  PoolPadding padding_;
};

REGISTER_XLA_OP(Name("MaxPool").Device(kCompilationDevice), MaxPoolLowering)
REGISTER_XLA_OP(Name("MaxPool3D").Device(kCompilationDevice), MaxPoolLowering)
REGISTER_XLA_OP(
    Name("MaxPoolV2").Device(kCompilationDevice).CompileTimeConstantInput("ksize").CompileTimeConstantInput("strides"),
    MaxPoolLowering)

}  // namespace
}  // namespace hpu
