// Direct lowerings of ops that are frequent in train steps. TensorFlow's own lowerings build, rewrite and translate an
// MLIR module for each op. Direct lowerings build the same programs in a tenth of the time.
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/compat/lowering_values.h"
#include "plugin/compat/unary_ops.h"
#include "plugin/compiler/compilation_device.h"
#include "tensorflow/compiler/tf2xla/type_util.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "tensorflow/core/util/tensor_format.h"
#include "tsl/platform/tensor_float_32_utils.h"
#include "xla/hlo/builder/lib/arithmetic.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/lib/math.h"
#include "xla/hlo/builder/lib/matrix.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/primitive_util.h"

namespace hpu {
namespace {

using tensorflow::OpKernelConstruction;
using tensorflow::XlaOpKernel;
using tensorflow::XlaOpKernelContext;

template <xla::XlaOp (*kFunction)(xla::XlaOp)>
class UnaryLowering : public XlaOpKernel {
 public:
  using XlaOpKernel::XlaOpKernel;
  void Compile(XlaOpKernelContext* context) override { context->SetOutput(0, kFunction(context->Input(0))); }
};

// XLA's simplifier takes x * x for non-negative and removes its absolute value, but products of integers overflow.
xla::XlaOp Abs(xla::XlaOp x) {
  const absl::StatusOr<xla::Shape> shape = x.builder()->GetShape(x);
  if (!shape.ok() || !xla::primitive_util::IsIntegralType(shape->element_type())) return xla::Abs(x);
  return xla::Select(xla::Lt(x, xla::ZerosLike(x)), xla::Neg(x), x);
}
xla::XlaOp Relu(xla::XlaOp x) { return xla::Max(x, xla::ZerosLike(x)); }
xla::XlaOp Relu6(xla::XlaOp x) { return xla::Clamp(xla::ScalarLike(x, 0), x, xla::ScalarLike(x, 6)); }

class BiasAddGradLowering : public XlaOpKernel {
 public:
  explicit BiasAddGradLowering(OpKernelConstruction* construction) : XlaOpKernel(construction) {
    std::string format;
    OP_REQUIRES_OK(construction, construction->GetAttr("data_format", &format));
    OP_REQUIRES(construction, tensorflow::FormatFromString(format, &format_),
                absl::InvalidArgumentError(
                    absl::StrCat(type_string(), ": invalid data_format '", format, "', expected NHWC or NCHW")));
  }

  void Compile(XlaOpKernelContext* context) override {
    const absl::StatusOr<xla::Shape> shape = context->InputXlaShape(0);
    OP_REQUIRES_OK(context, shape.status());
    const int64_t rank = shape->dimensions_size();
    OP_REQUIRES(context, rank >= 2,
                absl::InvalidArgumentError(absl::StrCat(
                    type_string(), ": out_backprop must have at least 2 dimensions, got ", shape->ToString())));
    const int64_t feature = format_ == tensorflow::FORMAT_NHWC ? rank - 1 : 1;
    std::vector<int64_t> others;
    for (int64_t dimension = 0; dimension < rank; ++dimension) {
      if (dimension != feature) others.push_back(dimension);
    }
    // 16-bit floats and 8- and 16-bit integers are summed in 32 bits.
    const tensorflow::DataType dtype = tensorflow::XlaHelpers::SumAccumulationType(input_type(0));
    xla::PrimitiveType type;
    OP_REQUIRES_OK(context, tensorflow::DataTypeToPrimitiveType(dtype, &type));
    // Sums of floats start at -0, because x + -0 is x even if x is -0.
    const xla::XlaOp nothing = tensorflow::DataTypeIsFloating(dtype)
                                   ? xla::ConstantR0WithType(context->builder(), type, -0.0)
                                   : xla::Zero(context->builder(), type);
    const bool converts = type != context->input_xla_type(0);
    const xla::XlaOp values = converts ? xla::ConvertElementType(context->Input(0), type) : context->Input(0);
    const xla::XlaOp sum =
        xla::Reduce(values, nothing, xla::CreateScalarAddComputation(type, context->builder()), others);
    context->SetOutput(0, converts ? xla::ConvertElementType(sum, context->input_xla_type(0)) : sum);
  }

 private:
  tensorflow::TensorFormat format_;
};

class EinsumLowering : public XlaOpKernel {
 public:
  explicit EinsumLowering(OpKernelConstruction* construction) : XlaOpKernel(construction) {
    OP_REQUIRES_OK(construction, construction->GetAttr("equation", &equation_));
    const int inputs = construction->num_inputs();
    OP_REQUIRES(construction, inputs == 1 || inputs == 2,
                absl::InvalidArgumentError(
                    absl::StrCat("Einsum: expected 1 or 2 inputs, got ", inputs, " (equation '", equation_, "')")));
  }

  void Compile(XlaOpKernelContext* context) override {
    const auto precision =
        tsl::tensor_float_32_execution_enabled() ? xla::PrecisionConfig::DEFAULT : xla::PrecisionConfig::HIGHEST;
    context->SetOutput(0, num_inputs() == 1 ? xla::Einsum(context->Input(0), equation_)
                                            : xla::Einsum(context->Input(0), context->Input(1), equation_, precision));
  }

 private:
  std::string equation_;
};

REGISTER_XLA_OP(Name("Abs").Device(kCompilationDevice), UnaryLowering<Abs>)
REGISTER_XLA_OP(Name("Exp").Device(kCompilationDevice), UnaryLowering<compat::unary::Exp>)
REGISTER_XLA_OP(Name("Expm1").Device(kCompilationDevice), UnaryLowering<compat::unary::Expm1>)
REGISTER_XLA_OP(Name("Floor").Device(kCompilationDevice), UnaryLowering<compat::unary::Floor>)
REGISTER_XLA_OP(Name("IsFinite").Device(kCompilationDevice), UnaryLowering<compat::unary::IsFinite>)
REGISTER_XLA_OP(Name("Relu").Device(kCompilationDevice), UnaryLowering<Relu>)
REGISTER_XLA_OP(Name("Relu6").Device(kCompilationDevice), UnaryLowering<Relu6>)
REGISTER_XLA_OP(Name("Sigmoid").Device(kCompilationDevice), UnaryLowering<compat::unary::Logistic>)
REGISTER_XLA_OP(Name("Sign").Device(kCompilationDevice), UnaryLowering<compat::unary::Sign>)
REGISTER_XLA_OP(Name("Sqrt").Device(kCompilationDevice), UnaryLowering<compat::unary::Sqrt>)
REGISTER_XLA_OP(Name("Tanh").Device(kCompilationDevice), UnaryLowering<compat::unary::Tanh>)
REGISTER_XLA_OP(Name("BiasAddGrad").Device(kCompilationDevice), BiasAddGradLowering)
REGISTER_XLA_OP(Name("Einsum").Device(kCompilationDevice), EinsumLowering)

}  // namespace
}  // namespace hpu
