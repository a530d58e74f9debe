// Lowerings of activation gradients that treat zeros and NaN like the CPU kernels, unlike tf2xla's lowerings.
#include "plugin/compiler/compilation_device.h"
#include "plugin/compiler/lowerings/elementwise_lowering.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/xla_builder.h"

namespace hpu {
namespace {

using xla::XlaOp;

// Values from tensorflow/core/kernels/relu_op_functor.h.
constexpr double kSeluScale = 1.0507009873554804934193349852946;
constexpr double kSeluScaleAlpha = 1.7580993408473768599402175208123;

XlaOp EluGradient(XlaOp gradient, XlaOp result) {
  const XlaOp zero = xla::ZerosLike(result);
  return xla::Select(xla::Lt(result, zero), (result + xla::ScalarLike(result, 1)) * gradient, gradient);
}

XlaOp SeluGradient(XlaOp gradient, XlaOp result) {
  const XlaOp zero = xla::ZerosLike(result);
  return xla::Select(xla::Lt(result, zero), gradient * (result + xla::ScalarLike(result, kSeluScaleAlpha)),
                     gradient * xla::ScalarLike(gradient, kSeluScale));
}

XlaOp ReluGradient(XlaOp gradient, XlaOp features) {
  return TimesIndicator(xla::Gt(features, xla::ZerosLike(features)), gradient);
}

XlaOp Relu6Gradient(XlaOp gradient, XlaOp features) {
  const XlaOp zero = xla::ZerosLike(features), six = xla::FullLike(features, 6);
  return TimesIndicator(xla::And(xla::Gt(features, zero), xla::Lt(features, six)), gradient);
}

template <XlaOp (*kGradient)(XlaOp gradient, XlaOp result)>
class ActivationGradientLowering : public tensorflow::XlaOpKernel {
 public:
  using XlaOpKernel::XlaOpKernel;
  void Compile(tensorflow::XlaOpKernelContext* context) override {
    context->SetOutput(0, kGradient(context->Input(0), context->Input(1)));
  }
};

REGISTER_XLA_OP(Name("EluGrad").Device(kCompilationDevice), ActivationGradientLowering<EluGradient>)
REGISTER_XLA_OP(Name("Relu6Grad").Device(kCompilationDevice), ActivationGradientLowering<Relu6Gradient>)
REGISTER_XLA_OP(Name("ReluGrad").Device(kCompilationDevice), ActivationGradientLowering<ReluGradient>)
REGISTER_XLA_OP(Name("SeluGrad").Device(kCompilationDevice), ActivationGradientLowering<SeluGradient>)

}  // namespace
}  // namespace hpu
