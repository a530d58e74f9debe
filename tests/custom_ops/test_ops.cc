// Ops for tests/custom_ops/test_custom_kernels.py: errors of lowerings, and kernels that are not built into the emulator.
#include <habanalabs/hpu_hlo_kernel.h>
#include <habanalabs/hpu_kernel.h>

#include <stdexcept>
#include <string>

#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/lib/core/errors.h"
#include "tensorflow/core/platform/logging.h"

using tensorflow::shape_inference::UnchangedShape;

REGISTER_OP("TestUndefinedOutput").Input("x: float").Output("y: float").SetShapeFn(UnchangedShape);
REGISTER_OP("TestNoNode").Input("x: float").Output("y: float").SetShapeFn(UnchangedShape);
REGISTER_OP("TestWrongShape").Input("x: float").Output("y: float").SetShapeFn(UnchangedShape);
REGISTER_OP("TestCrash")
    .Input("x: float")
    .Output("y: float")
    .Attr("how: {'check', 'throw', 'store'}")
    .SetShapeFn(UnchangedShape);
REGISTER_OP("TestKernel")
    .Input("x: T")
    .Output("y: T")
    .Output("z: T")
    .Attr("T: {bfloat16, float, int32}")
    .Attr("guid: string")
    .Attr("scale: float = 1.0")
    .SetShapeFn([](tensorflow::shape_inference::InferenceContext* c) {
      c->set_output(0, c->input(0));
      c->set_output(1, c->input(0));
      return tensorflow::OkStatus();
    });

namespace {

struct UndefinedOutput : habana::BaseFunctor {
  void DefineNode(habana::HpuKernelContext* context) override {
    OP_REQUIRES_OK(context, context->DefineNode({"relu_fwd_f32"}, {0}, {0}));
  }
};

struct NoNode : habana::BaseFunctor {
  void DefineNode(habana::HpuKernelContext* context) override {
    habana::TensorInfo x;
    OP_REQUIRES_OK(context, context->InputInfo(0, x));
    OP_REQUIRES_OK(context, context->DefineOutputInfo(0, x));
  }
};

struct WrongShape : habana::BaseFunctor {
  void DefineNode(habana::HpuKernelContext* context) override {
    OP_REQUIRES_OK(context, context->DefineOutputInfo(0, {tensorflow::DT_FLOAT, tensorflow::TensorShape({3})}));
    OP_REQUIRES_OK(context, context->DefineNode({"test_square_fwd_f32"}, {0}, {0}));
  }
};

// Failures of a lowering that does not check its arguments.
struct Crash : habana::BaseFunctor {
  void DefineNode(habana::HpuKernelContext* context) override {
    std::string how;
    OP_REQUIRES_OK(context, context->GetAttr("how", &how));
    if (how == "throw") throw std::runtime_error("a size that is thrown");
    if (how == "store") *nowhere_ = 1;
    CHECK_LT(how.size(), size_t{1}) << "a size that is checked";
  }

 private:
  int* volatile nowhere_ = nullptr;
};

// One input, two outputs of the input's shape, and a parameter. A class, so that its members are private.
class TwoOutputs : public habana::BaseFunctor {
  void DefineNode(habana::HpuKernelContext* context) override {
    habana::TensorInfo x;
    OP_REQUIRES_OK(context, context->InputInfo(0, x));
    OP_REQUIRES_OK(context, context->DefineOutputInfo(0, x));
    OP_REQUIRES_OK(context, context->DefineOutputInfo(1, x));
    habana::NodeDesc node;
    OP_REQUIRES_OK(context, context->GetAttr("guid", &node.guid));
    float scale = 0;
    OP_REQUIRES_OK(context, context->GetAttr("scale", &scale));
    node.user_params = &scale;
    node.params_size = sizeof(scale);
    OP_REQUIRES_OK(context, context->DefineNode(node, {0}, {0, 1}));
  }
};

// Declares an output of shape [2, n], which may contradict the op's shape function.
const bool registered = habana::RegisterHloKernel("test_square_fwd_f32", [](const habana::HloKernelCall& call) {
  return std::vector<xla::XlaOp>{xla::Mul(call.inputs[0], call.inputs[0])};
});

}  // namespace

REGISTER_KERNEL_BUILDER(ForHpuWithName("TestUndefinedOutput"), habana::HpuKernel<UndefinedOutput>);
REGISTER_KERNEL_BUILDER(ForHpuWithName("TestNoNode"), habana::HpuKernel<NoNode>);
REGISTER_KERNEL_BUILDER(ForHpuWithName("TestWrongShape"), habana::HpuKernel<WrongShape>);
REGISTER_KERNEL_BUILDER(ForHpuWithName("TestCrash"), habana::HpuKernel<Crash>);
REGISTER_KERNEL_BUILDER(ForHpuWithName("TestKernel").TypeConstraint<float>("T"), habana::HpuKernel<TwoOutputs>);
REGISTER_KERNEL_BUILDER(ForHpuWithName("TestKernel").TypeConstraint<tensorflow::bfloat16>("T"),
                        habana::HpuKernel<TwoOutputs>);
REGISTER_KERNEL_BUILDER(ForHpuWithName("TestKernel").TypeConstraint<int32_t>("T"), habana::HpuKernel<TwoOutputs>);
