// Lowering of ResourceGatherNd, which tf2xla lacks: reads the variable and gathers as GatherNd does.
#include "plugin/compiler/compilation_device.h"
#include "tensorflow/compiler/tf2xla/kernels/gather_op_helpers.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "xla/hlo/builder/xla_builder.h"

namespace hpu {
namespace {

// Operands: handle of the variable, and indices, whose last dimension has a number for each indexed dimension.
class VariableGatherLowering : public tensorflow::XlaOpKernel {
 public:
  using XlaOpKernel::XlaOpKernel;

  void Compile(tensorflow::XlaOpKernelContext* context) override {
    const tensorflow::DataType type = output_type(0);
    tensorflow::TensorShape shape;
    xla::XlaOp table, result;
    OP_REQUIRES_OK(context, context->ReadVariableInput(0, type, &shape, &table));
    OP_REQUIRES_OK(context, tensorflow::XlaGather(table, shape, context->Input(1), context->InputShape(1), /*axis=*/0,
                                                  /*indices_are_nd=*/true, type, context->input_type(1),
                                                  context->builder(), &result));
    context->SetOutput(0, result);
  }
};

REGISTER_XLA_OP(Name("ResourceGatherNd").Device(kCompilationDevice), VariableGatherLowering)

}  // namespace
}  // namespace hpu
