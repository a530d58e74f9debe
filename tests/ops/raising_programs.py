"""Programs that raise errors on the CPU because of shapes, constants or values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

raw = tf.raw_ops
Arrays = tuple[Any, ...]


class Raising(NamedTuple):
    """A program, valid arguments, invalid arguments of the same dtypes, and part of the error's text.

    Invalid values have the shapes of the valid arguments, so that they reach a compiled op.
    """

    program: Callable[..., Any]
    good: Arrays
    bad: Arrays
    text: str


ONE = np.eye(2, dtype=np.float32)
ONES = np.ones((2, 2), np.float32)
NAN = np.full((2, 2), np.nan, np.float32)
BOX = np.ones((1, 4), np.float32)
WHOLE = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")


def whole(dtype: str, *values: int) -> np.ndarray[Any, Any]:
    return np.array(values, dtype)


def crop(boxes: tf.Tensor) -> Any:
    return tf.image.crop_and_resize(tf.ones([1, 3, 3, 1]), boxes, [0], [2, 2])


def solve(matrix: tf.Tensor, right: tf.Tensor) -> Any:
    return tf.linalg.solve(matrix, right)


def segments(name: str) -> Callable[..., Any]:
    operation = getattr(tf.math, name)
    return lambda ids: operation(tf.constant([1.0, 2.0]), ids, 3)


def quantize(name: str, **attributes: Any) -> Callable[..., Any]:
    operation = getattr(raw, name)
    return lambda low, high: operation(
        input=tf.constant([1.0]), input_min=low, input_max=high, range_given=True, **attributes
    )


LIMITS = (np.float32(2), np.float32(1))
VALUES: dict[str, Raising] = {
    **{
        f"{name}-{dtype}": Raising(
            lambda x, y, name=name: getattr(raw, name)(x=x, y=y),
            (whole(dtype, 7, 8), whole(dtype, 2, 3)),
            (whole(dtype, 7, 8), whole(dtype, 2, 0)),
            "only integer div" if name.startswith("Truncate") else "Integer division by zero",
        )
        for name, dtypes in {
            "FloorDiv": WHOLE,
            "Div": ("int64",),
            "FloorMod": WHOLE,
            "Mod": ("int64",),
            "TruncateDiv": ("int64",),
            "TruncateMod": ("int64",),
        }.items()
        for dtype in dtypes
        if (name, dtype) not in {("FloorMod", "uint8"), ("FloorMod", "uint16")}
    },
    **{
        f"pow-{dtype}": Raising(
            lambda x, y: x**y,
            (whole(dtype, 7, 8), whole(dtype, 2, 3)),
            (whole(dtype, 7, 8), whole(dtype, 2, -1)),
            "negative integer powers",
        )
        for dtype in ("int8", "int16", "int32", "int64")
    },
    "inverse": Raising(tf.linalg.inv, (ONE,), (ONES,), "not invertible"),
    "inverse-double": Raising(tf.linalg.inv, (ONE.astype("float64"),), (ONES.astype("float64"),), "not invertible"),
    "inverse-complex": Raising(tf.linalg.inv, (ONE.astype("complex64"),), (ONES.astype("complex64"),), "not invert"),
    "inverse-batch": Raising(tf.linalg.inv, (np.stack([ONE, ONE]),), (np.stack([ONE, ONES]),), "not invertible"),
    "solve": Raising(solve, (ONE, ONE), (ONES, ONE), "not invertible"),
    "lu": Raising(lambda x: tf.linalg.lu(x)[0], (ONE,), (ONES,), "not invertible"),
    "solve-2": Raising(solve, (ONE, ONE), (np.full((2, 2), 2, np.float32), ONE), "not invertible"),
    "band": Raising(
        lambda lower: tf.linalg.band_part(tf.constant(ONES), lower, 0),
        (np.int64(1),),
        (np.int64(3),),
        "must be negative or",
    ),
    "crop": Raising(crop, (BOX,), (BOX * NAN[0, 0],), "element that is not finite"),
    "crop-infinite": Raising(crop, (BOX,), (BOX * np.float32(np.inf),), "element that is not finite"),
    "eigh": Raising(lambda x: tf.linalg.eigh(x + 0)[0], (ONE,), (NAN,), "eigen"),
    "bincount": Raising(
        lambda x: raw.Bincount(arr=x, size=5, weights=tf.constant([], tf.int32)),
        (whole("int32", 1, 2),),
        (whole("int32", 1, -2),),
        "must be non-negative",
    ),
    "dense-bincount": Raising(
        lambda x: raw.DenseBincount(input=x, size=5, weights=tf.constant([], tf.int32)),
        (whole("int64", 1, 2),),
        (whole("int64", 1, -2),),
        "must be non-negative",
    ),
    "quantize-2": Raising(quantize("QuantizeAndDequantizeV2"), LIMITS[::-1], LIMITS, "Invalid range"),
    "quantize-3": Raising(quantize("QuantizeAndDequantizeV3", num_bits=8), LIMITS[::-1], LIMITS, "Invalid range"),
    "quantize-4": Raising(quantize("QuantizeAndDequantizeV4"), LIMITS[::-1], LIMITS, "Invalid range"),
    "scale": Raising(
        lambda scale: raw.ScaleAndTranslate(
            images=tf.ones([1, 2, 2, 1]), size=[2, 2], scale=scale, translation=tf.zeros([2])
        ),
        (np.ones(2, np.float32),),
        (np.zeros(2, np.float32),),
        "must be greater than zero",
    ),
    "reverse-sequence": Raising(
        lambda lengths: tf.reverse_sequence(tf.ones([2, 3]), lengths, seq_axis=1),
        (whole("int64", 1, 3),),
        (whole("int64", 1, 4),),
        "seq_lens(1) > input.dims(1)",
    ),
    "reverse-sequence-negative": Raising(
        lambda lengths: tf.reverse_sequence(tf.ones([2, 3]), lengths, seq_axis=1),
        (whole("int64", 1, 3),),
        (whole("int64", -1, 3),),
        "seq_lens(0) < 0",
    ),
    "permutation": Raising(
        lambda x: tf.math.invert_permutation(x), (whole("int64", 1, 0),), (whole("int64", 1, 2),), "is not between 0"
    ),
    "permutation-twins": Raising(
        lambda x: tf.math.invert_permutation(x), (whole("int64", 1, 0),), (whole("int64", 1, 1),), "duplicated"
    ),
    "scatter-nd": Raising(
        lambda indices: tf.scatter_nd(indices, tf.constant([1.0]), tf.constant([3])),
        (np.array([[1]], np.int32),),
        (np.array([[3]], np.int32),),
        "does not index into shape [3]",
    ),
    **{
        name: Raising(segments(name), (whole("int64", 0, -1),), (whole("int64", 0, 3),), "= 3 is out of range [0, 3)")
        for name in ("unsorted_segment_sum", "unsorted_segment_prod", "unsorted_segment_max", "unsorted_segment_min")
    },
}

# Programs without valid arguments: shapes or compile-time constants are wrong.
SHAPES: dict[str, Raising] = {
    "solve": Raising(solve, (), (ONE, np.ones((3, 2), np.float32)), ""),
    "triangular-solve": Raising(tf.linalg.triangular_solve, (), (ONE, np.ones((3, 2), np.float32)), ""),
    "inverse": Raising(tf.linalg.inv, (), (np.ones((2, 3), np.float32),), ""),
    "cholesky": Raising(tf.linalg.cholesky, (), (np.ones((2, 3), np.float32),), ""),
    "determinant": Raising(tf.linalg.det, (), (np.ones((2, 3), np.float32),), ""),
    "tridiagonal": Raising(
        lambda d, r: raw.TridiagonalSolve(diagonals=d, rhs=r), (), (np.ones((3, 4), "float32"), ONE), ""
    ),
    "matmul": Raising(tf.matmul, (), (ONE, np.ones((3, 2), np.float32)), ""),
    "add": Raising(tf.add, (), (np.ones(2, np.float32), np.ones(3, np.float32)), ""),
    "sum-axis": Raising(lambda x: raw.Sum(input=x, axis=[5]), (), (ONE,), ""),
    "argmax-axis": Raising(lambda x: raw.ArgMax(input=x, dimension=7), (), (ONE,), ""),
    "reverse-axis": Raising(lambda x: raw.ReverseV2(tensor=x, axis=[0, 0]), (), (ONE,), ""),
    "concat-axis": Raising(lambda x: raw.ConcatV2(values=[x, x], axis=9), (), (ONE,), ""),
    "concat-sizes": Raising(lambda x, y: tf.concat([x, y], 0), (), (ONE, np.ones((2, 3), np.float32)), ""),
    "transpose": Raising(lambda x: raw.Transpose(x=x, perm=[0, 0]), (), (ONE,), ""),
    "reshape": Raising(lambda x: raw.Reshape(tensor=x, shape=[3, 5]), (), (ONE,), ""),
    "slice": Raising(lambda x: raw.Slice(input=x, begin=[0, 0], size=[3, 5]), (), (ONE,), ""),
    "split": Raising(lambda x: raw.Split(axis=0, value=x, num_split=3), (), (ONE,), ""),
    "tile": Raising(lambda x: raw.Tile(input=x, multiples=[1, -1]), (), (ONE,), ""),
    "one-hot": Raising(
        lambda x: raw.OneHot(indices=x, depth=-1, on_value=1.0, off_value=0.0), (), (whole("int64", 1),), ""
    ),
    "top-k": Raising(lambda x: raw.TopKV2(input=x, k=5), (), (ONE,), ""),
    "roll": Raising(lambda x: raw.Roll(input=x, shift=[1], axis=[5]), (), (ONE,), ""),
    "pad": Raising(lambda x: raw.Pad(input=x, paddings=[[0, -1], [0, 0]]), (), (ONE,), ""),
    "mirror-pad": Raising(lambda x: raw.MirrorPad(input=x, paddings=[[5, 5], [0, 0]], mode="REFLECT"), (), (ONE,), ""),
    "space-to-batch": Raising(
        lambda x: raw.SpaceToBatchND(input=x, block_shape=[3], paddings=[[0, 0]]), (), (ONE,), ""
    ),
    "space-to-depth": Raising(
        lambda x: raw.SpaceToDepth(input=x, block_size=3), (), (np.ones((1, 2, 2, 1), np.float32),), ""
    ),
    "linspace": Raising(lambda x: raw.LinSpace(start=x, stop=2.0, num=-1), (), (np.float32(1),), ""),
    "diagonal": Raising(lambda x: raw.MatrixDiagPartV3(input=x, k=[1, 0], padding_value=0.0), (), (ONE,), ""),
    "diagonal-set": Raising(lambda x: raw.MatrixSetDiagV3(input=x, diagonal=tf.ones([5]), k=0), (), (ONE,), ""),
    "incomplete-beta": Raising(
        lambda x: raw.Betainc(a=x, b=tf.ones([3]), x=tf.ones([2])), (), (np.ones(2, np.float32),), ""
    ),
    "bias": Raising(tf.nn.bias_add, (), (ONE, np.ones(3, np.float32)), ""),
    "softmax-loss": Raising(
        lambda x, y: raw.SoftmaxCrossEntropyWithLogits(features=x, labels=y), (), (ONE, np.ones((3, 2), "float32")), ""
    ),
    "gather-axis": Raising(lambda x: raw.GatherV2(params=x, indices=[0], axis=5), (), (ONE,), ""),
    "scatter-nd": Raising(
        lambda x: raw.ScatterNd(indices=[[0]], updates=x, shape=[3]), (), (np.ones(2, np.float32),), ""
    ),
    "in-top-k": Raising(
        lambda x: raw.InTopKV2(predictions=x, targets=tf.zeros([3], tf.int64), k=tf.constant(1, tf.int64)),
        (),
        (ONE,),
        "",
    ),
    "clip": Raising(
        lambda x: raw.ClipByValue(t=x, clip_value_min=tf.zeros([3]), clip_value_max=tf.ones([2, 2])), (), (ONE,), ""
    ),
    "resize": Raising(
        lambda x: raw.ResizeBilinear(images=x, size=[0, 2]), (), (np.ones((1, 2, 2, 1), np.float32),), ""
    ),
    "cumsum": Raising(lambda x: raw.Cumsum(x=x, axis=5), (), (ONE,), ""),
    "einsum": Raising(
        lambda x, y: raw.Einsum(inputs=[x, y], equation="ab,bc->ac"), (), (ONE, np.ones((3, 2), "f4")), ""
    ),
    "batch-norm": Raising(
        lambda x: raw.FusedBatchNormV3(x=x, scale=[1.0], offset=[1.0, 1], mean=[0.0, 0], variance=[1.0, 1]),
        (),
        (np.ones((1, 2, 2, 2), np.float32),),
        "",
    ),
}
