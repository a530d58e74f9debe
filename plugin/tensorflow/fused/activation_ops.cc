// HabanaFusedBatchNormV3 and HabanaBiasAddActivation: ops fused with the activation that follows them.
#include "plugin/tensorflow/fused/fused_op.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"

namespace hpu {

REGISTER_OP("HabanaFusedBatchNormV3")
    .Input("x: T")
    .Input("scale: U")
    .Input("offset: U")
    .Input("mean: U")
    .Input("variance: U")
    .Output("y: T")
    .Output("batch_mean: U")
    .Output("batch_variance: U")
    .Output("reserve_space_1: U")
    .Output("reserve_space_2: U")
    .Output("reserve_space_3: U")
    .Attr("T: {half, bfloat16, float}")
    .Attr("U: {bfloat16, float}")
    .Attr("epsilon: float = 0.0001")
    .Attr("exponential_avg_factor: float = 1.0")
    .Attr("data_format: {'NHWC', 'NCHW', 'NDHWC', 'NCDHW'} = 'NHWC'")
    .Attr("is_training: bool = true")
    .Attr("activation: {'Relu', 'Relu6'} = 'Relu'")
    .SetShapeFn(tensorflow::shape_inference::FusedBatchNormV3Shape)
    .Doc("FusedBatchNormV3, followed by an activation function of its first result.");

REGISTER_OP("HabanaBiasAddActivation")
    .Input("value: T")
    .Input("bias: T")
    .Output("output: T")
    .Attr("T: {bfloat16, half, float, double}")
    .Attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
    .Attr("activation: {'Relu', 'Relu6', 'Tanh', 'Sigmoid'} = 'Relu'")
    .SetShapeFn(tensorflow::shape_inference::BiasAddShape)
    .Doc("BiasAdd, followed by an activation function.");

const FusedOp batch_norm("HabanaFusedBatchNormV3", "", R"(
  normal = FusedBatchNormV3(x, scale, offset, mean, variance)[epsilon=$epsilon, exponential_avg_factor=$exponential_avg_factor, data_format=$data_format, is_training=$is_training]
  y = $activation(normal)
  batch_mean = normal:1
  batch_variance = normal:2
  reserve_space_1 = normal:3
  reserve_space_2 = normal:4
  reserve_space_3 = normal:5
)");

const FusedOp bias_add("HabanaBiasAddActivation", "", R"(
  output = $activation(BiasAdd(value, bias)[data_format=$data_format])
)");

const FusedKernels fused_batch_norm_v3_kernels("HabanaFusedBatchNormV3");
const FusedKernels bias_add_activation_kernels("HabanaBiasAddActivation");

}  // namespace hpu
