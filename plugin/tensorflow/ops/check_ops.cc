// Check ops: raise the errors of an op's CPU kernel outside the cluster that contains the op.
#include "plugin/checks/index_rule.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"

namespace hpu {

REGISTER_OP("HabanaCheckIndices")
    .Input("indices: Tindices")
    .Input("shape: int32")
    .Attr("Tindices: {int16, int32, int64}")
    .Attr(checks::KindAttribute())
    .Attr("axis: int = 0")
    .Attr("node: string")
    .Attr("added_to_negative: int = 0")
    .SetIsStateful()
    .SetShapeFn(tensorflow::shape_inference::NoOutputs)
    .Doc(R"doc(
Fails with the error of TensorFlow's CPU kernel if an index is out of range.

The code is OUT_OF_RANGE for kind box, INVALID_ARGUMENT for other kinds.

indices: Must be at least 0 and less than shape[axis], with exceptions:
  Kinds slice and segment: not checked if another number in shape is 0.
  Kind vector: rows of coordinates; the bound of each coordinate is the size of its dimension.
  Kind segment: negative indices are valid, because the op drops them.
  Kind length: shape[axis] itself is valid.
  Kind permutation: each index must occur once.
  Kind element: a negative index counts from the end.
  Kind begin: the begin of a slice. shape holds the tensor's sizes and the slice's sizes.
shape: Shape of the indexed tensor.
axis: Counts from the end if negative.
node: Name of the op that uses the indices, for the error text.
added_to_negative: Added to negative indices before the check; 0 for kinds vector and begin.
)doc");

REGISTER_OP("HabanaCheckValues")
    .Input("passes: bool")
    .Attr("code: int")
    .Attr("error: string")
    .Attr("node: string")
    .SetIsStateful()
    .SetShapeFn(tensorflow::shape_inference::NoOutputs)
    .Doc(R"doc(
Fails with the error of TensorFlow's CPU kernel if values did not pass their test.

passes: Whether the values passed; a scalar.
code: Status code of the error.
error: Text of the error.
node: Name of the op whose values were tested, for the error text.
)doc");

REGISTER_OP("HabanaCheckRange")
    .Input("minval: T")
    .Input("maxval: T")
    .Input("shape: Tshape")
    .Attr("T: {int32, int64}")
    .Attr("Tshape: {int32, int64}")
    .Attr("node: string")
    .SetIsStateful()
    .SetShapeFn(tensorflow::shape_inference::NoOutputs)
    .Doc(R"doc(
Fails with INVALID_ARGUMENT, like TensorFlow's CPU kernels of random integers, unless minval < maxval.

shape: Shape of the random numbers. If it has no elements, every range is valid.
node: Name of the random op, for the error text.
)doc");

}  // namespace hpu
