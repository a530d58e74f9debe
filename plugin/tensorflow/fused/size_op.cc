// HabanaSize: the number of elements of a tensor, known at compile time.
#include "plugin/tensorflow/fused/fused_op.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"

namespace hpu {

REGISTER_OP("HabanaSize")
    .Input("input: T")
    .Output("output: out_type")
    .Attr("T: type")
    .Attr("out_type: {int32, int64} = DT_INT32")
    .SetShapeFn(tensorflow::shape_inference::ScalarShape)
    .Doc("Number of elements of a tensor; a compile-time constant in a cluster.");

const FusedOp size("HabanaSize", "", R"(
  output = Size(input)[out_type=$out_type]
)");

const FusedKernels size_kernels("HabanaSize", {}, /*only_shapes=*/true);

}  // namespace hpu
