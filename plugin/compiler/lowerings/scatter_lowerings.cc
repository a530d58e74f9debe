// Lowerings of scatter-max and scatter-min that replace an element only by a greater or smaller update, like the CPU
// kernels. So NaN in the updates is ignored, and NaN in the tensor stays. tf2xla's lowerings propagate NaN.
#include <string>

#include "plugin/compiler/compilation_device.h"
#include "tensorflow/compiler/tf2xla/lib/scatter.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "tensorflow/core/framework/types.h"
#include "xla/hlo/builder/xla_builder.h"

namespace hpu {
namespace {

using tensorflow::XlaOpKernelContext;
using xla::XlaOp;

XlaOp Greater(XlaOp old, XlaOp update, xla::XlaBuilder*) { return xla::Select(xla::Lt(old, update), update, old); }
XlaOp SmallerElement(XlaOp old, XlaOp update, xla::XlaBuilder*) {
  return xla::Select(xla::Gt(old, update), update, old);
}

using Combiner = XlaOp (*)(XlaOp old, XlaOp update, xla::XlaBuilder* builder);

absl::StatusOr<XlaOp> Scattered(const std::string& op, XlaOpKernelContext* context, XlaOp tensor,
                                bool indices_are_vectors, Combiner combiner) {
  if (tensorflow::DataTypeIsComplex(context->input_type(2))) {
    return absl::UnimplementedError(op + ": updates must have a real type, got " +
                                    tensorflow::DataTypeString(context->input_type(2)));
  }
  return tensorflow::XlaScatter(tensor, context->Input(2), context->Input(1), indices_are_vectors,
                                /*indices_are_sorted=*/false, combiner, context->builder());
}

template <Combiner kCombiner>
class TensorScatterLowering : public tensorflow::XlaOpKernel {
 public:
  using XlaOpKernel::XlaOpKernel;
  void Compile(XlaOpKernelContext* context) override {
    const absl::StatusOr<XlaOp> result =
        Scattered(type_string(), context, context->Input(0), /*indices_are_vectors=*/true, kCombiner);
    OP_REQUIRES_OK(context, result.status());
    context->SetOutput(0, *result);
  }
};

template <Combiner kCombiner>
class VariableScatterLowering : public tensorflow::XlaOpKernel {
 public:
  using XlaOpKernel::XlaOpKernel;
  void Compile(XlaOpKernelContext* context) override {
    const tensorflow::DataType type = context->input_type(2);
    XlaOp value;
    OP_REQUIRES_OK(context, context->ReadVariableInput(0, type, /*shape=*/nullptr, &value));
    const absl::StatusOr<XlaOp> result =
        Scattered(type_string(), context, value, /*indices_are_vectors=*/false, kCombiner);
    OP_REQUIRES_OK(context, result.status());
    OP_REQUIRES_OK(context, context->AssignVariable(0, type, *result));
  }
};

REGISTER_XLA_OP(Name("ResourceScatterMax").Device(kCompilationDevice), VariableScatterLowering<Greater>)
REGISTER_XLA_OP(Name("ResourceScatterMin").Device(kCompilationDevice), VariableScatterLowering<SmallerElement>)
REGISTER_XLA_OP(Name("TensorScatterMax").Device(kCompilationDevice), TensorScatterLowering<Greater>)
REGISTER_XLA_OP(Name("TensorScatterMin").Device(kCompilationDevice), TensorScatterLowering<SmallerElement>)

}  // namespace
}  // namespace hpu
