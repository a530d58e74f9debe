// Ops that keep the value of a variable if a check after the cluster will fail, and the places of checks after loops
// and branches.
#include "plugin/checks/index_rule.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"

namespace hpu {

REGISTER_OP("HabanaIndicesInRange")
    .Input("indices: Tindices")
    .Input("shape: int32")
    .Output("passes: bool")
    .Attr("Tindices: {int16, int32, int64}")
    .Attr(checks::KindAttribute())
    .Attr("axis: int = 0")
    .SetShapeFn(tensorflow::shape_inference::ScalarShape)
    .Doc(R"doc(
Whether HabanaCheckIndices passes for the same inputs and attributes.

indices: Indices of an op.
shape: Shape of the indexed tensor.
passes: A scalar.
)doc");

REGISTER_OP("HabanaInnerIndices")
    .Input("indices: Tindices")
    .Input("shape: int32")
    .Attr("Tindices: {int16, int32, int64}")
    .Attr(checks::KindAttribute())
    .Attr("axis: int = 0")
    .SetShapeFn(tensorflow::shape_inference::NoOutputs)
    .Doc(R"doc(
Does nothing. Stands after a loop or branch for an op inside whose indices are checked there.

indices: In a loop, the first indices of the op that fail their check, or the last ones if none fails. Zeros if the op did not run.
shape: Shape of the tensor that was indexed. Ones if the op did not run.
)doc");

REGISTER_OP("HabanaInnerValues")
    .Input("passes: bool")
    .Attr("code: int")
    .Attr("error: string")
    .SetShapeFn(tensorflow::shape_inference::NoOutputs)
    .Doc(R"doc(
Does nothing. Stands after a loop or branch for an op inside whose values are tested there.

passes: Whether all values passed; a scalar. True if the op did not run.
code, error: Of the CPU kernel's error.
)doc");

REGISTER_OP("HabanaAssert")
    .Input("condition: bool")
    .Input("data: T")
    .Attr("T: list(type) >= 0")
    .Attr("texts: list(string)")
    .Attr("inputs: list(int)")
    .Attr("summarize: int")
    .SetIsStateful()
    .SetShapeFn(tensorflow::shape_inference::NoOutputs)
    .Doc(R"doc(
Like Assert, for clusters. Compiled code ignores it, and an Assert after the cluster raises the error. If the cluster runs on the CPU, this op raises it.

condition: A scalar.
data: The items of the message that are no constants.
texts: The items that are constants; empty for the others.
inputs: For each item its index in data; -1 for a constant.
summarize: Number of elements of each item in the message, or -1 for all.
)doc");

REGISTER_OP("HabanaRevertUpdate")
    .Input("resource: resource")
    .Input("passes: bool")
    .Input("old: N * T")
    .Attr("N: int >= 0")
    .Attr("T: type")
    .SetIsStateful()
    .SetShapeFn(tensorflow::shape_inference::NoOutputs)
    .Doc(R"doc(
In a cluster, gives a variable its old value again unless the cluster's values pass their checks.

Does nothing if the variable had no value, or a value of another type or shape. Outside clusters, does nothing: CPU
kernels raise errors before later ops update variables.

resource: Handle of the variable.
passes: Whether the values passed; a scalar.
old: The old value. If the list is empty, the value before the cluster.
)doc");

}  // namespace hpu
