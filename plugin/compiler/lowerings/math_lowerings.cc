// Lowerings of functions and norms that tf2xla lacks and XLA can compute, and of means of integers.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/compiler/compilation_device.h"
#include "plugin/compiler/lowerings/elementwise_lowering.h"
#include "plugin/compiler/make_lowering.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "xla/hlo/builder/lib/arithmetic.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/lib/math.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/primitive_util.h"
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

// Reduction of dimensions, which input 1 names.
class AxesLowering : public XlaOpKernel {
 public:
  explicit AxesLowering(OpKernelConstruction* construction) : XlaOpKernel(construction) {
    OP_REQUIRES_OK(construction, construction->GetAttr("keep_dims", &keep_dims_));
  }

  void Compile(XlaOpKernelContext* context) final {
    const absl::StatusOr<xla::Shape> shape = context->InputXlaShape(0);
    OP_REQUIRES_OK(context, shape.status());
    if (!Supports(*shape)) return CompilePlain(context);
    std::vector<int64_t> axes;
    OP_REQUIRES_OK(context, context->ConstantInputReshapedToIntVector(1, &axes));
    std::vector<bool> reduced(shape->dimensions_size());
    for (const int64_t axis : axes) {
      OP_REQUIRES(context, -shape->dimensions_size() <= axis && axis < shape->dimensions_size(),
                  absl::InvalidArgumentError(absl::StrCat(
                      type_string(), ": invalid reduction dimension ", axis, " for input ", shape->ToString(),
                      ": expected a value in [", -shape->dimensions_size(), ", ", shape->dimensions_size(), ")")));
      reduced[axis < 0 ? axis + shape->dimensions_size() : axis] = true;
    }
    std::vector<int64_t> dimensions, result;
    for (int64_t i = 0; i < shape->dimensions_size(); ++i) {
      if (reduced[i]) dimensions.push_back(i);
      if (!reduced[i] || keep_dims_) result.push_back(reduced[i] ? 1 : shape->dimensions(i));
    }
    const XlaOp value = Reduced(context->Input(0), shape->element_type(), dimensions);
    context->SetOutput(
        0, xla::ConvertElementType(keep_dims_ ? xla::Reshape(value, result) : value, shape->element_type()));
  }

 protected:
  virtual bool Supports(const xla::Shape& shape) const { return true; }
  virtual void CompilePlain(XlaOpKernelContext* context) {}
  virtual XlaOp Reduced(XlaOp x, xla::PrimitiveType type, const std::vector<int64_t>& dimensions) const = 0;

  static XlaOp Sum(XlaOp x, xla::PrimitiveType type, const std::vector<int64_t>& dimensions) {
    return xla::Reduce(x, xla::Zero(x.builder(), type), xla::CreateScalarAddComputation(type, x.builder()), dimensions);
  }

  bool keep_dims() const { return keep_dims_; }

 private:
  bool keep_dims_ = false;
};

// Square root of a sum of squares.
class EuclideanNormLowering final : public AxesLowering {
 public:
  using AxesLowering::AxesLowering;

 private:
  XlaOp Reduced(XlaOp x, xla::PrimitiveType type, const std::vector<int64_t>& dimensions) const override {
    const XlaOp wide = Widened(x, type);
    return xla::Sqrt(Sum(wide * wide, type == xla::F64 ? xla::F64 : xla::F32, dimensions));
  }
};

// Mean. tf2xla's lowering, which computes means of other types, adds 32-bit integers in 32 bits, so that the sum
// overflows, and returns -1 for no elements. The CPU's kernel adds them in 64 bits, and returns 0.
class MeanLowering final : public AxesLowering {
 public:
  explicit MeanLowering(OpKernelConstruction* construction) : AxesLowering(construction) {
    absl::StatusOr<std::unique_ptr<tensorflow::OpKernel>> plain =
        MakeLowering(construction, tensorflow::DEVICE_CPU_XLA_JIT);
    OP_REQUIRES_OK(construction, plain.status());
    plain_ = *std::move(plain);
  }

 private:
  bool Supports(const xla::Shape& shape) const override {
    return xla::primitive_util::IsIntegralType(shape.element_type()) && (shape.is_static() || !keep_dims());
  }

  void CompilePlain(XlaOpKernelContext* context) override { plain_->Compute(context->op_kernel_context()); }

  XlaOp Reduced(XlaOp x, xla::PrimitiveType type, const std::vector<int64_t>& dimensions) const override {
    const xla::PrimitiveType wide = xla::primitive_util::IsSignedIntegralType(type) ? xla::S64 : xla::U64;
    const XlaOp sum = Sum(xla::ConvertElementType(x, wide), wide, dimensions), one = xla::One(x.builder(), wide);
    XlaOp elements = one;
    for (const int64_t dimension : dimensions) {
      elements = elements * xla::ConvertElementType(xla::GetDimensionSize(x, dimension), wide);
    }
    return sum / xla::Max(elements, one);
  }

  std::unique_ptr<tensorflow::OpKernel> plain_;
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
REGISTER_XLA_OP(Name("Mean").Device(kCompilationDevice).CompileTimeConstantInput("reduction_indices"), MeanLowering)

}  // namespace
}  // namespace hpu
