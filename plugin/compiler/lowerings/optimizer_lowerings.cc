// Lowerings of optimizer ops: of ResourceApplyAdamWithAmsgrad, the only dense Keras optimizer op that tf2xla lacks, and
// of ops that treat NaN, infinities and zeros like the CPU's kernels, unlike tf2xla's lowerings.
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "plugin/compiler/compilation_device.h"
#include "plugin/compiler/lowerings/elementwise_lowering.h"
#include "tensorflow/compiler/tf2xla/shape_util.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/xla_builder.h"

namespace hpu {
namespace {

using tensorflow::OpKernelConstruction;
using tensorflow::TensorShape;
using tensorflow::XlaOpKernelContext;
using xla::XlaOp;

using Names = std::vector<const char*>;

// Variables of an optimizer op, which all have the shape of the first, its gradient and its scalars.
class OptimizerLowering : public tensorflow::XlaOpKernel {
 public:
  OptimizerLowering(OpKernelConstruction* construction, Names variables, Names scalars)
      : XlaOpKernel(construction), names_(std::move(variables)), scalars_(std::move(scalars)) {
    OP_REQUIRES_OK(construction, construction->GetAttr("T", &type_));
  }

  void Compile(XlaOpKernelContext* context) override {
    std::vector<XlaOp> variables(names_.size());
    TensorShape shape, variable_shape;
    for (size_t i = 0; i < names_.size(); ++i) {
      OP_REQUIRES_OK(context, context->ReadVariableInput(i, type_, &shape, &variables[i]));
      if (i == 0) variable_shape = shape;
      OP_REQUIRES_OK(context, CheckShape(names_[i], shape, "the shape of var", variable_shape));
    }
    OP_REQUIRES_OK(context, CheckInput(context, "grad", "the shape of var", variable_shape));
    for (const char* name : scalars_) OP_REQUIRES_OK(context, CheckInput(context, name, "a scalar's shape", {}));
    Update(context, absl::MakeSpan(variables));
    for (size_t i = 0; i < names_.size(); ++i) {
      OP_REQUIRES_OK(context, context->AssignVariable(i, type_, variables[i]));
    }
  }

 protected:
  virtual void Update(XlaOpKernelContext* context, absl::Span<XlaOp> variables) const = 0;

 private:
  absl::Status CheckShape(const char* name, const TensorShape& shape, const char* what,
                          const TensorShape& expected) const {
    if (shape == expected) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(type_string(), ": ", name, " must have ", what, ", ",
                                                   expected.DebugString(), ", got ", shape.DebugString()));
  }

  absl::Status CheckInput(XlaOpKernelContext* context, const char* name, const char* what,
                          const TensorShape& expected) const {
    const absl::StatusOr<xla::Shape> actual = context->InputXlaShape(name);
    if (!actual.ok()) return actual.status();
    TensorShape shape;
    const absl::Status status = tensorflow::XLAShapeToTensorShape(*actual, &shape);
    return status.ok() ? CheckShape(name, shape, what, expected) : status;
  }

  const Names names_, scalars_;
  tensorflow::DataType type_;
};

// The greater number; `old` if one of both is NaN, as in Eigen.
XlaOp GreaterNumber(XlaOp old, XlaOp other) { return xla::Select(xla::Lt(old, other), other, old); }

// Moves a mean by a share of the distance to `value`.
XlaOp Moved(XlaOp mean, XlaOp value, XlaOp decay) { return mean + (value - mean) * (Scalar(decay, 1) - decay); }

class AdamWithAmsgradLowering : public OptimizerLowering {
 public:
  explicit AdamWithAmsgradLowering(OpKernelConstruction* construction)
      : OptimizerLowering(construction, {"var", "m", "v", "vhat"},
                          {"beta1_power", "beta2_power", "lr", "beta1", "beta2", "epsilon"}) {}

 protected:
  void Update(XlaOpKernelContext* context, absl::Span<XlaOp> variables) const override {
    XlaOp &variable = variables[0], &mean = variables[1], &square = variables[2], &largest = variables[3];
    const XlaOp beta1_power = context->Input("beta1_power"), beta2_power = context->Input("beta2_power");
    const XlaOp gradient = context->Input("grad"), one = Scalar(beta1_power, 1);
    const XlaOp rate = context->Input("lr") * xla::Sqrt(one - beta2_power) / (one - beta1_power);
    mean = Moved(mean, gradient, context->Input("beta1"));
    square = Moved(square, gradient * gradient, context->Input("beta2"));
    largest = GreaterNumber(largest, square);
    variable = variable - mean * rate / (xla::Sqrt(largest) + context->Input("epsilon"));
  }
};

class AdaMaxLowering : public OptimizerLowering {
 public:
  explicit AdaMaxLowering(OpKernelConstruction* construction)
      : OptimizerLowering(construction, {"var", "m", "v"}, {"beta1_power", "lr", "beta1", "beta2", "epsilon"}) {}

 protected:
  void Update(XlaOpKernelContext* context, absl::Span<XlaOp> variables) const override {
    XlaOp &variable = variables[0], &mean = variables[1], &largest = variables[2];
    const XlaOp gradient = context->Input("grad"), beta1_power = context->Input("beta1_power");
    mean = Moved(mean, gradient, context->Input("beta1"));
    largest = GreaterNumber(context->Input("beta2") * largest, xla::Abs(gradient));
    const XlaOp rate = context->Input("lr") / (Scalar(beta1_power, 1) - beta1_power);
    variable = variable - rate * (mean / (largest + context->Input("epsilon")));
  }
};

template <bool kShrinks>
class FtrlLowering : public OptimizerLowering {
 public:
  explicit FtrlLowering(OpKernelConstruction* construction)
      : OptimizerLowering(
            construction, {"var", "accum", "linear"},
            kShrinks ? Names{"lr", "l1", "l2", "l2_shrinkage", "lr_power"} : Names{"lr", "l1", "l2", "lr_power"}) {
    OP_REQUIRES_OK(construction, construction->GetAttr("multiply_linear_by_lr", &multiplies_));
  }

 protected:
  void Update(XlaOpKernelContext* context, absl::Span<XlaOp> variables) const override {
    XlaOp &variable = variables[0], &sum = variables[1], &linear = variables[2];
    const XlaOp gradient = context->Input("grad"), rate = context->Input("lr"), power = context->Input("lr_power");
    const XlaOp twice = Scalar(rate, 2), new_sum = sum + gradient * gradient, zero = xla::ZerosLike(variable);
    XlaOp shrunk = gradient, l1 = context->Input("l1"), l2 = twice * context->Input("l2");
    if (kShrinks) shrunk = gradient + twice * context->Input("l2_shrinkage") * variable;
    const auto root = [&](XlaOp x) {
      const XlaOp is_root = xla::Eq(power, Scalar(power, -0.5));
      return xla::Select(is_root, xla::Sqrt(x), xla::Pow(x, -power));
    };
    const XlaOp new_root = root(new_sum);
    if (multiplies_) {
      l1 = l1 * rate;
      l2 = l2 * rate;
      linear = linear + (shrunk * rate - (new_root - root(sum)) * variable);
    } else {
      linear = linear + (shrunk - (new_root - root(sum)) / rate * variable);
    }
    const XlaOp quadratic = (multiplies_ ? new_root : new_root / rate) + l2;
    const XlaOp step = (l1 * xla::Sign(linear) - linear) / quadratic;
    variable = xla::Select(xla::Gt(xla::Abs(linear), l1), step, zero);
    sum = new_sum;
  }

 private:
  bool multiplies_ = false;
};

constexpr tensorflow::DataType kOptimizerTypes[] = {tensorflow::DT_HALF, tensorflow::DT_BFLOAT16, tensorflow::DT_FLOAT,
                                                    tensorflow::DT_DOUBLE};

REGISTER_XLA_OP(Name("ResourceApplyAdaMax").Device(kCompilationDevice).TypeConstraint("T", kOptimizerTypes),
                AdaMaxLowering)
REGISTER_XLA_OP(Name("ResourceApplyAdamWithAmsgrad").Device(kCompilationDevice).TypeConstraint("T", kOptimizerTypes),
                AdamWithAmsgradLowering)
REGISTER_XLA_OP(Name("ResourceApplyFtrl").Device(kCompilationDevice).TypeConstraint("T", kOptimizerTypes),
                FtrlLowering<false>)
REGISTER_XLA_OP(Name("ResourceApplyFtrlV2").Device(kCompilationDevice).TypeConstraint("T", kOptimizerTypes),
                FtrlLowering<true>)

}  // namespace
}  // namespace hpu
