"""Calls that the CPU's kernels or shape functions reject, but that a compiler would accept.

Run as a program: prints a JSON object of differences between the HPU's and the CPU's outcomes, by call.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

raw = tf.raw_ops
ONE = [1, 1, 1, 1]
WINDOW = [1, 2, 2, 1]
# Two such sizes multiply to more elements than int64 can count.
HUGE = 2**62


def ones(*shape: int) -> Any:
    return np.ones(shape, np.float32)


def whole(*numbers: int) -> Any:
    return np.array(numbers, np.int64)


def pooled(op: str, windows: list[int], strides: list[int]) -> Callable[[], Any]:
    name = "value" if op == "AvgPool" else "input"
    rank = 5 if "3D" in op else 4
    images = ones(1, *[4] * (rank - 2), 2)
    return lambda: getattr(raw, op)(**{name: images}, ksize=windows, strides=strides, padding="VALID")


def max_gradient(op: str, *shapes: tuple[int, ...], windows: list[int] = WINDOW) -> Callable[[], Any]:
    images, maxima, gradient = (ones(*shape) for shape in shapes)
    return lambda: getattr(raw, op)(
        orig_input=images, orig_output=maxima, grad=gradient, ksize=windows, strides=ONE, padding="VALID"
    )


def average_gradient(
    shape: list[int], gradient: tuple[int, ...], windows: list[int] = WINDOW, strides: list[int] = ONE
) -> Callable[[], Any]:
    return lambda: raw.AvgPoolGrad(
        orig_input_shape=shape, grad=ones(*gradient), ksize=windows, strides=strides, padding="VALID"
    )


def segments(op: str, count: int) -> Callable[[], Any]:
    return lambda: getattr(raw, op)(data=ones(3), segment_ids=[0, 1, 1], num_segments=whole(count)[0])


def diagonals(band: int, rows: int = -1) -> Callable[[], Any]:
    return lambda: raw.MatrixDiagV3(
        diagonal=np.ones((2, 2, 2, 2)), k=np.int32(band), num_rows=rows, num_cols=-1, padding_value=np.float64(0)
    )


def given(numbers: Any) -> tf.Tensor:
    """A tensor that depends on a graph's argument. TensorFlow's shape functions would read a constant's numbers."""
    array = np.array(numbers, np.int32)
    with tf.init_scope():
        many = tf.constant(np.resize(array, 999))  # graphs contain few numbers as constants
    return tf.reshape(many[: array.size], array.shape)


def list_of(rows: Any) -> tf.Tensor:
    return raw.TensorListFromTensor(tensor=rows, element_shape=[-1])


def split(sizes: Any) -> Callable[[], Any]:
    return lambda: raw.SplitV(value=ones(4), size_splits=given(sizes), axis=0, num_split=3)


def with_item(index: Any) -> Callable[[], Any]:
    def call() -> Any:
        handle = raw.TensorListSetItem(input_handle=list_of(ones(3, 2)), index=given(index), item=ones(2))
        return raw.TensorListStack(input_handle=handle, element_shape=[2], element_dtype=tf.float32)

    return call


def of_shape(op: str, shape: Any) -> Callable[[], Any]:
    arguments = {"Fill": {"value": 1.0}, "BroadcastTo": {"input": ones(1)}, "Reshape": {"tensor": ones(2, 3)}}
    arguments["ScatterNd"] = {"indices": [[0]], "updates": ones(1)}
    name = {"Fill": "dims"}.get(op, "shape")
    return lambda: getattr(raw, op)(**{name: shape}, **arguments[op])


CALLS: dict[str, Callable[[], Any]] = {
    **{
        f"{op} of {count}": segments(op, count)
        for op in ("UnsortedSegmentSum", "UnsortedSegmentMax", "UnsortedSegmentMin", "UnsortedSegmentProd")
        for count in (-1, HUGE)
    },
    "segments of a scalar": lambda: raw.UnsortedSegmentSum(
        data=np.ones(3), segment_ids=898042203, num_segments=whole(8327099846119777499)[0]
    ),
    **{f"SplitV into {sizes}": split(sizes) for sizes in ([[1, 1, 2]], [[1], [1], [2]], 4)},
    "shape of a list of a scalar": lambda: raw.TensorListElementShape(
        input_handle=list_of(np.float32(1)), shape_type=tf.int32
    ),
    "length of a list of a scalar": lambda: raw.TensorListLength(input_handle=list_of(np.float32(1))),
    **{f"item {index} of a list": with_item(index) for index in ([1], [[1]], [0, 1])},
    "dilated convolution": lambda: tf.nn.atrous_conv2d(
        ones(1, 1, 1, 5), ones(1, 1, 5, 1), rate=2147483647, padding="SAME"
    ),
    "diagonal out of range": lambda: tf.linalg.diag(np.ones((2, 2, 2, 2)), k=1070828000000),
    "diagonal of too many": diagonals(2**30),
    "diagonal with few rows": diagonals(0, rows=1),
    **{
        f"{op} to {shape.tolist()}": of_shape(op, shape)
        for op in ("Fill", "BroadcastTo", "Reshape", "ScatterNd")
        for shape in (whole(-1, -2), whole(HUGE, HUGE), whole(2**40, 2**40))
        if op != "Fill" or shape[0] < 0  # in graphs, such a call crashes the CPU
    },
    **{
        f"{op} in {windows} by {strides}": pooled(op, windows, strides)
        for op in ("MaxPool", "AvgPool")
        for windows, strides in (([1, 0, 1, 1], ONE), (WINDOW, [1, 0, 1, 1]), ([1, 2, 2], ONE), ([1, 9, 1, 1], ONE))
    },
    **{
        f"{op} in {windows}": pooled(op, windows, [1] * 5)
        for op in ("MaxPool3D", "AvgPool3D")
        for windows in ([1, 0, 1, 1, 1], [1, 9, 1, 1, 1])
    },
    **{
        f"{op} of {name}": max_gradient(op, *shapes)
        for op in ("MaxPoolGrad", "MaxPoolGradGrad")
        for name, shapes in {
            "other maxima": ((1, 4, 4, 1), (1, 3, 3, 2), (1, 3, 3, 1)),
            "another gradient": ((1, 4, 4, 1), (1, 3, 3, 1), (1, 3, 3, 2)),
            "an image without batch": ((4, 4, 1), (1, 3, 3, 1), (1, 3, 3, 1)),
        }.items()
    },
    "MaxPoolGrad in empty windows": max_gradient(
        "MaxPoolGrad", (1, 4, 4, 1), (1, 3, 3, 1), (1, 3, 3, 1), windows=[1, 0, 2, 1]
    ),
    "AvgPoolGrad of another gradient": average_gradient([1, 4, 4, 1], (1, 3, 4, 1)),
    "AvgPoolGrad in empty windows": average_gradient([1, 4, 4, 1], (1, 3, 3, 1), windows=[1, 0, 0, 1]),
    "AvgPoolGrad by strides over channels": average_gradient([1, 1, 3, 1], (3, 1, 3, 1), ONE, [1, 1, 1, 2]),
    "AvgPoolGrad of a negative size": average_gradient([1, -4, 4, 1], (1, 3, 3, 1)),
}


def main() -> None:
    from habana_frameworks.tensorflow import load_habana_module
    from tests.ops.outcomes import differences

    load_habana_module()
    json.dump({name: differences(call) for name, call in CALLS.items()}, sys.stdout)


if __name__ == "__main__":
    main()
