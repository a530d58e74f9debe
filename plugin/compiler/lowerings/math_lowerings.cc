// Lowerings of functions and norms that tf2xla lacks and XLA can compute.
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/compiler/compilation_device.h"
#include "plugin/compiler/lowerings/elementwise_lowering.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "xla/client/lib/arithmetic.h"
#include "xla/client/lib/constants.h"
#include "xla/client/lib/math.h"
#include "xla/client/xla_builder.h"
#include "xla/shape_util.h"

namespace hpu {
namespace {

using tensorflow::OpKernelConstruction;
using tensorflow::XlaOpKernel;
using tensorflow::XlaOpKernelContext;
using xla::XlaOp;

// Modified Bessel functions of the first kind, from the functions scaled by exp(-|x|).
template <XlaOp (*kScaled)(XlaOp)>
XlaOp BesselI(XlaOp x, xla::PrimitiveType) {
  return xla::Exp(xla::Abs(x)) * kScaled(x);
}

// Square root of a sum of squares.
class EuclideanNormLowering : public XlaOpKernel {
 public:
  explicit EuclideanNormLowering(OpKernelConstruction* construction) : XlaOpKernel(construction) {
    OP_REQUIRES_OK(construction, construction->GetAttr("keep_dims", &keep_dims_));
  }

  void Compile(XlaOpKernelContext* context) override {
    const absl::StatusOr<xla::Shape> shape = context->InputXlaShape(0);
    OP_REQUIRES_OK(context, shape.status());
    std::vector<int64_t> axes;
    OP_REQUIRES_OK(context, context->ConstantInputReshapedToIntVector(1, &axes));
    std::vector<bool> reduced(shape->rank());
    for (const int64_t axis : axes) {
      OP_REQUIRES(context, -shape->rank() <= axis && axis < shape->rank(),
                  absl::InvalidArgumentError(absl::StrCat(type_string(), ": invalid reduction dimension ", axis,
                                                          " for input ", shape->ToString(), ": expected a value in [",
                                                          -shape->rank(), ", ", shape->rank(), ")")));
      reduced[axis < 0 ? axis + shape->rank() : axis] = true;
    }
    std::vector<int64_t> dimensions, result;
    for (int64_t i = 0; i < shape->rank(); ++i) {
      if (reduced[i]) dimensions.push_back(i);
      if (!reduced[i] || keep_dims_) result.push_back(reduced[i] ? 1 : shape->dimensions(i));
    }
    const xla::PrimitiveType type = shape->element_type();
    const xla::PrimitiveType sum_type = type == xla::F64 ? xla::F64 : xla::F32;
    const XlaOp x = Widened(context->Input(0), type);
    const XlaOp sum = xla::Reduce(x * x, xla::Zero(context->builder(), sum_type),
                                  xla::CreateScalarAddComputation(sum_type, context->builder()), dimensions);
    context->SetOutput(0, xla::ConvertElementType(xla::Reshape(xla::Sqrt(sum), result), type));
  }

 private:
  bool keep_dims_ = false;
};

constexpr std::initializer_list<tensorflow::DataType> kFloats = {tensorflow::DT_FLOAT, tensorflow::DT_DOUBLE,
                                                                 tensorflow::DT_HALF, tensorflow::DT_BFLOAT16};

REGISTER_XLA_OP(Name("BesselI0").Device(kCompilationDevice), ElementwiseLowering<BesselI<xla::BesselI0e>>)
REGISTER_XLA_OP(Name("BesselI1").Device(kCompilationDevice), ElementwiseLowering<BesselI<xla::BesselI1e>>)
REGISTER_XLA_OP(Name("EuclideanNorm")
                    .Device(kCompilationDevice)
                    .TypeConstraint("T", kFloats)
                    .CompileTimeConstantInput("reduction_indices"),
                EuclideanNormLowering)

}  // namespace
}  // namespace hpu
