// CustomDivOp: element-wise quotient of two tensors of equal shape, with the HPU's kernel div_fwd.
#include <habanalabs/hpu_kernel.h>

#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/lib/core/errors.h"

REGISTER_OP("CustomDivOp")
    .Input("input1: T")
    .Input("input2: T")
    .Output("output: T")
    .Attr("T: {bfloat16, float}")
    .Attr("example_attr: int")
    .SetShapeFn(tensorflow::shape_inference::UnchangedShape);

namespace {

struct CustomDivFunctor : habana::BaseFunctor {
  void DefineNode(habana::HpuKernelContext* context) override {
    habana::TensorInfo dividend, divisor;
    OP_REQUIRES_OK(context, context->InputInfo(0, dividend));
    OP_REQUIRES_OK(context, context->InputInfo(1, divisor));
    OP_REQUIRES(context, dividend.shape == divisor.shape,
                tensorflow::errors::InvalidArgument("input1 has the shape ", dividend.shape, ", input2 ", divisor.shape,
                                                    ": they must be equal"));
    int example_attr = 0;
    OP_REQUIRES_OK(context, context->GetAttr("example_attr", &example_attr));

    OP_REQUIRES_OK(context, context->DefineOutputInfo(0, {dividend.dtype, dividend.shape}));
    habana::NodeDesc node;
    node.guid = dividend.dtype == tensorflow::DT_BFLOAT16 ? "div_fwd_bf16" : "div_fwd_f32";
    node.name = "custom_div";
    OP_REQUIRES_OK(context, context->DefineNode(node, {0, 1}, {0}));
  }
};

}  // namespace

REGISTER_KERNEL_BUILDER(ForHpuWithName("CustomDivOp").TypeConstraint<float>("T"), habana::HpuKernel<CustomDivFunctor>);
REGISTER_KERNEL_BUILDER(ForHpuWithName("CustomDivOp").TypeConstraint<tensorflow::bfloat16>("T"),
                        habana::HpuKernel<CustomDivFunctor>);
