// Lowering of ResourceApplyAdamWithAmsgrad, the only dense Keras optimizer op that tf2xla lacks.
#include <array>

#include "plugin/compiler/compilation_device.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "xla/client/lib/constants.h"
#include "xla/client/xla_builder.h"

namespace hpu {
namespace {

using xla::XlaOp;

class AdamWithAmsgradLowering : public tensorflow::XlaOpKernel {
 public:
  explicit AdamWithAmsgradLowering(tensorflow::OpKernelConstruction* construction) : XlaOpKernel(construction) {
    OP_REQUIRES_OK(construction, construction->GetAttr("T", &type_));
  }

  void Compile(tensorflow::XlaOpKernelContext* context) override {
    std::array<XlaOp, 4> variables;
    tensorflow::TensorShape variable_shape;
    constexpr const char* kNames[] = {"var", "m", "v", "vhat"};
    for (int i = 0; i < 4; ++i) {
      tensorflow::TensorShape shape;
      OP_REQUIRES_OK(context, context->ReadVariableInput(i, type_, &shape, &variables[i]));
      if (i == 0) variable_shape = shape;
      OP_REQUIRES(context, shape == variable_shape,
                  absl::InvalidArgumentError(type_string() + ": " + kNames[i] + " must have the shape of var, " +
                                             variable_shape.DebugString() + ", got " + shape.DebugString()));
    }
    auto [variable, mean, square, largest] = variables;
    const XlaOp beta1_power = context->Input("beta1_power"), beta2_power = context->Input("beta2_power");
    const XlaOp beta1 = context->Input("beta1"), beta2 = context->Input("beta2");
    const XlaOp gradient = context->Input("grad"), one = xla::One(context->builder(), context->input_xla_type(4));
    const XlaOp rate = context->Input("lr") * xla::Sqrt(one - beta2_power) / (one - beta1_power);
    mean = mean + (gradient - mean) * (one - beta1);
    square = square + (gradient * gradient - square) * (one - beta2);
    largest = xla::Max(largest, square);
    variable = variable - mean * rate / (xla::Sqrt(largest) + context->Input("epsilon"));
    const std::array<XlaOp, 4> updated = {variable, mean, square, largest};
    for (int i = 0; i < 4; ++i) OP_REQUIRES_OK(context, context->AssignVariable(i, type_, updated[i]));
  }

 private:
  tensorflow::DataType type_;
};

REGISTER_XLA_OP(Name("ResourceApplyAdamWithAmsgrad")
                    .Device(kCompilationDevice)
                    .TypeConstraint("T", {tensorflow::DT_HALF, tensorflow::DT_BFLOAT16, tensorflow::DT_FLOAT,
                                          tensorflow::DT_DOUBLE}),
                AdamWithAmsgradLowering)

}  // namespace
}  // namespace hpu
