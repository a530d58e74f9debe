// Lowering of ResourceGatherNd, which tf2xla lacks: reads the variable and gathers as GatherNd does.
#include "plugin/compat/gather_nd.h"
#include "plugin/compiler/compilation_device.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"

namespace hpu {
namespace {

// Operands: handle of the variable, and indices, whose last dimension has a number for each indexed dimension.
class VariableGatherLowering : public tensorflow::XlaOpKernel {
 public:
  using XlaOpKernel::XlaOpKernel;

  void Compile(tensorflow::XlaOpKernelContext* context) override {
    TensorOp table{{}, {}, output_type(0)};
    OP_REQUIRES_OK(context, context->ReadVariableInput(0, table.type, &table.shape, &table.value));
    const absl::StatusOr<xla::XlaOp> result =
        GatherNd(table, {context->Input(1), context->InputShape(1), input_type(1)});
    OP_REQUIRES_OK(context, result.status());
    context->SetOutput(0, *result);
  }
};

REGISTER_XLA_OP(Name("ResourceGatherNd").Device(kCompilationDevice), VariableGatherLowering)

}  // namespace
}  // namespace hpu
