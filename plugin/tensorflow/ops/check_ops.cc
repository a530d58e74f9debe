// Check ops, which raise the errors of an op's CPU kernel outside the cluster that contains the op.
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"

namespace hpu {

REGISTER_OP("HabanaCheckIndices")
    .Input("indices: Tindices")
    .Input("shape: int32")
    .Attr("Tindices: {int32, int64}")
    .Attr("kind: {'index', 'slice', 'box', 'vector', 'label', 'segment', 'length', 'permutation'}")
    .Attr("axis: int = 0")
    .Attr("node: string")
    .SetIsStateful()
    .SetShapeFn(tensorflow::shape_inference::NoOutputs)
    .Doc(R"doc(
Raises INVALID_ARGUMENT, for kind box OUT_OF_RANGE, in the words of TensorFlow's CPU kernels, if an index is out of
range.

indices: of kind index, box or label, each bounded by shape[axis]; of kind slice as index, unless the other sizes in
  shape have a 0; of kind vector, rows of coordinates, each bounded by the
  dimension in its place; of kind segment as index, negative ones are dropped; of kind length may be shape[axis] itself;
  of kind permutation as index, each once.
shape: of the tensor that the indices go into.
axis: may be negative, from the end.
node: name of the op that takes the indices, for the message.
)doc");

REGISTER_OP("HabanaCheckValues")
    .Input("passes: bool")
    .Attr("code: int")
    .Attr("error: string")
    .Attr("node: string")
    .SetIsStateful()
    .SetShapeFn(tensorflow::shape_inference::NoOutputs)
    .Doc(R"doc(
Raises the error of TensorFlow's CPU kernel where values do not pass a test, a scalar.

code: of the error.
error: its text.
node: name of the op whose values were tested, for the message.
)doc");

REGISTER_OP("HabanaCheckRange")
    .Input("minval: T")
    .Input("maxval: T")
    .Input("shape: Tshape")
    .Attr("T: {int32, int64, uint32, uint64}")
    .Attr("Tshape: {int32, int64}")
    .Attr("node: string")
    .SetIsStateful()
    .SetShapeFn(tensorflow::shape_inference::NoOutputs)
    .Doc(R"doc(
Raises INVALID_ARGUMENT, in the words of TensorFlow's CPU kernels, unless whole numbers from minval up to maxval can be drawn.

shape: of the numbers; where there are none to draw, every range will do.
node: name of the op that draws, for the message.
)doc");

}  // namespace hpu
