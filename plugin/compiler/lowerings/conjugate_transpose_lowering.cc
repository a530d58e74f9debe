// Lowering of ConjugateTranspose that keeps real numbers real. tf2xla's lowering makes real numbers complex.
#include <cstdint>
#include <vector>

#include "plugin/compiler/compilation_device.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "tensorflow/core/framework/types.h"
#include "xla/hlo/builder/xla_builder.h"

namespace hpu {
namespace {

class ConjugateTransposeLowering : public tensorflow::XlaOpKernel {
 public:
  using XlaOpKernel::XlaOpKernel;
  void Compile(tensorflow::XlaOpKernelContext* context) override {
    std::vector<int64_t> order;
    OP_REQUIRES_OK(context, context->ConstantInputAsIntVector(1, &order));
    const xla::XlaOp transposed = xla::Transpose(context->Input(0), order);
    context->SetOutput(0, tensorflow::DataTypeIsComplex(input_type(0)) ? xla::Conj(transposed) : transposed);
  }
};

REGISTER_XLA_OP(Name("ConjugateTranspose").Device(kCompilationDevice).CompileTimeConstantInput("perm"),
                ConjugateTransposeLowering)

}  // namespace
}  // namespace hpu
