"""Programs with empty results, whose arguments are wrong for results with elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

raw = tf.raw_ops


class Empty(NamedTuple):
    """A program and its arguments. The program's first argument is a variable if `variable` has its first value."""

    program: Callable[..., Any]
    arguments: tuple[np.ndarray[Any, Any], ...]
    variable: np.ndarray[Any, Any] | None = None


def ints(*values: Any, dtype: str = "int32") -> np.ndarray[Any, Any]:
    return np.array(values, dtype)


def zeros(*shape: int, dtype: str = "float32") -> np.ndarray[Any, Any]:
    return np.zeros(shape, dtype)


def scalar(value: float, dtype: str = "int32") -> np.ndarray[Any, Any]:
    return np.array(value, dtype)


def _binary(name: str, dtype: str, bad: int) -> dict[str, Empty]:
    def program(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        return getattr(raw, name)(x=x, y=y)

    none = zeros(0, dtype=dtype)
    cases = {
        f"{name}-{dtype}": Empty(program, (none, scalar(bad, dtype))),
        f"{name}-{dtype}-leading": Empty(program, (zeros(0, 3, dtype=dtype), ints(1, bad, 2, dtype=dtype))),
    }
    if dtype == "int64":
        cases |= {
            f"{name}-{dtype}-columns": Empty(program, (zeros(2, 0, dtype=dtype), ints([bad], [1], dtype=dtype))),
            f"{name}-{dtype}-broadcast": Empty(program, (zeros(0, 1, dtype=dtype), ints([1, bad, 2], dtype=dtype))),
            f"{name}-{dtype}-divisors": Empty(program, (scalar(0, dtype), none)),
        }
    return cases


ARITHMETIC: dict[str, Empty] = {
    name: case
    for op, dtypes, bad in (
        ("FloorDiv", ("int32", "int64", "uint8", "int8"), 0),
        ("FloorMod", ("int32", "int64", "int8"), 0),
        ("Div", ("int64",), 0),
        ("Mod", ("int64",), 0),
        ("TruncateDiv", ("int64", "int32"), 0),
        ("TruncateMod", ("int64", "int32"), 0),
        ("Pow", ("int32", "int64", "int16"), -1),
    )
    for dtype in dtypes
    for name, case in _binary(op, dtype, bad).items()
}


def _segments(name: str) -> Callable[..., Any]:
    return lambda data, ids: getattr(raw, name)(data=data, segment_ids=ids, num_segments=3)


def _scatter(name: str) -> Callable[..., Any]:
    def program(table: tf.Variable, indices: tf.Tensor) -> tf.Tensor:
        shape = tf.shape(indices)[:-1] if "Nd" in name else tf.shape(indices)
        arguments = {"indices": indices, "updates": tf.zeros(tf.concat([shape, [0]], 0))}
        getattr(raw, name)(**{"ref" if "Nd" in name else "resource": table.handle}, **arguments)
        return table.read_value()

    return program


def _proximal_update(table: tf.Variable, rate: tf.Tensor) -> tf.Tensor:
    raw.ResourceApplyProximalAdagrad(var=table.handle, accum=table.handle, lr=rate, l1=0.0, l2=0.0, grad=tf.zeros([0]))
    return table.read_value()


NAN = np.float32(np.nan)
SINGULAR = np.ones((2, 2), np.float32)
ROWS = zeros(3, 0)  # three rows without elements
INDEXING: dict[str, Empty] = {
    "gather of none": Empty(lambda x, i: tf.gather(x, i), (zeros(0, 4), ints())),
    "gather of rows without elements": Empty(lambda x, i: tf.gather(x, i), (ROWS, ints(0, 7, -1))),
    "gather along an empty axis": Empty(lambda x, i: tf.gather(x, i, axis=1), (ROWS, ints())),
    "gather from no rows along axis 1": Empty(lambda x, i: tf.gather(x, i, axis=1), (zeros(0, 4), ints(1, 9))),
    "gather of no batches": Empty(
        lambda x, i: tf.gather(x, i, batch_dims=1), (zeros(0, 4), ints(dtype="int64").reshape(0, 2))
    ),
    "element of none": Empty(lambda x, i: tf.gather(x, i), (zeros(0), scalar(0))),
    "gather_nd of none": Empty(lambda x, i: tf.gather_nd(x, i), (zeros(0, 4), ints().reshape(0, 1))),
    "gather_nd of rows without elements": Empty(lambda x, i: tf.gather_nd(x, i), (ROWS, ints([0], [7]))),
    "gather_nd of valid rows without elements": Empty(lambda x, i: tf.gather_nd(x, i), (ROWS, ints([0], [2]))),
    "scatter_nd of none": Empty(lambda i, x: tf.scatter_nd(i, x, [0, 4]), (ints().reshape(0, 1), zeros(0, 4))),
    "scatter_nd of rows without elements": Empty(
        lambda i, x: tf.scatter_nd(i, x, [3, 0]), (ints([0], [7]), zeros(2, 0))
    ),
    "scatter_nd to no rows": Empty(lambda i, x: tf.scatter_nd(i, x, [0, 4]), (ints([0]), zeros(1, 4))),
    **{
        f"{name} of rows without elements": Empty(
            lambda x, i, u, name=name: getattr(raw, name)(tensor=x, indices=i, updates=u),
            (ROWS, ints([0], [7]), zeros(2, 0)),
        )
        for name in (
            "TensorScatterAdd",
            "TensorScatterMax",
            "TensorScatterMin",
            "TensorScatterSub",
            "TensorScatterUpdate",
        )
    },
    **{
        f"{name} of rows without elements": Empty(_scatter(name), (indices,), ROWS)
        for names, indices in (
            (("Add", "Div", "Max", "Min", "Mul", "Sub", "Update"), ints(0, 7)),
            (("NdAdd", "NdSub", "NdUpdate"), ints([0], [7])),
        )
        for name in map("ResourceScatter{}".format, names)
    },
    "lookup of rows without elements": Empty(
        lambda table, i: raw.ResourceGather(resource=table.handle, indices=i, dtype=tf.float32), (ints(0, 7),), ROWS
    ),
    "lookup of none": Empty(
        lambda table, i: raw.ResourceGather(resource=table.handle, indices=i, dtype=tf.float32), (ints(),), zeros(0, 4)
    ),
    "lookup_nd of rows without elements": Empty(
        lambda table, i: raw.ResourceGatherNd(resource=table.handle, indices=i, dtype=tf.float32),
        (ints([0], [7]),),
        ROWS,
    ),
    **{
        f"{name} of rows without elements": Empty(_segments(name), (zeros(2, 0), ints(0, 9)))
        for name in ("UnsortedSegmentSum", "UnsortedSegmentProd", "UnsortedSegmentMax", "UnsortedSegmentMin")
    },
    "no segments": Empty(
        lambda x, i: raw.UnsortedSegmentSum(data=x, segment_ids=i, num_segments=0), (zeros(2, 3), ints(0, 1))
    ),
    "no labels": Empty(
        lambda x, i: raw.SparseSoftmaxCrossEntropyWithLogits(features=x, labels=i), (zeros(0, 3), ints())
    ),
    "no classes": Empty(
        lambda x, i: raw.SparseSoftmaxCrossEntropyWithLogits(features=x, labels=i), (zeros(2, 0), ints(0, 1))
    ),
    "empty permutation": Empty(tf.math.invert_permutation, (ints(),)),
    "reversal of sequences without elements": Empty(
        lambda x, n: tf.reverse_sequence(x, n, seq_axis=1), (zeros(2, 3, 0), ints(1, 9, dtype="int64"))
    ),
    "reversal of no sequences": Empty(
        lambda x, n: tf.reverse_sequence(x, n, seq_axis=1), (zeros(0, 3), ints(dtype="int64"))
    ),
    "unravel_index": Empty(lambda i, n: tf.unravel_index(i, tf.stack([2, n])), (ints(), scalar(0))),
}

VALUES: dict[str, Empty] = {
    "inverse of no matrices": Empty(tf.linalg.inv, (zeros(0, 2, 2),)),
    "inverse of empty matrices": Empty(tf.linalg.inv, (zeros(2, 0, 0),)),
    "solution of no columns": Empty(lambda a, b: tf.linalg.solve(a, b), (SINGULAR, zeros(2, 0))),
    "solution of no systems": Empty(lambda a, b: tf.linalg.solve(a, b), (zeros(0, 2, 2), zeros(0, 2, 1))),
    "lu of no matrices": Empty(lambda x: tf.linalg.lu(x), (zeros(0, 2, 2),)),
    "bincount of none": Empty(lambda x: raw.Bincount(arr=x, size=0, weights=tf.constant([], tf.int32)), (ints(),)),
    "bincount of size 0": Empty(
        lambda x: raw.Bincount(arr=x, size=0, weights=tf.constant([], tf.int32)), (ints(1, -2),)
    ),
    "dense bincount of none": Empty(
        lambda x: raw.DenseBincount(input=x, size=0, weights=tf.constant([], tf.int32)), (ints(),)
    ),
    **{
        f"QuantizeAndDequantize{version}": Empty(
            lambda x, low, high, version=version, more=more: getattr(raw, f"QuantizeAndDequantize{version}")(
                input=x, input_min=low, input_max=high, range_given=True, **more
            ),
            (zeros(0), scalar(2, "float32"), scalar(1, "float32")),
        )
        for version, more in (("V2", {}), ("V3", {"num_bits": 8}), ("V4", {}))
    },
    "scale of no images": Empty(
        lambda x, s: raw.ScaleAndTranslate(images=x, size=[2, 2], scale=s, translation=tf.zeros([2])),
        (zeros(0, 2, 2, 1), zeros(2)),
    ),
    "scale of images without channels": Empty(
        lambda x, s: raw.ScaleAndTranslate(images=x, size=[2, 2], scale=s, translation=tf.zeros([2])),
        (zeros(1, 2, 2, 0), zeros(2)),
    ),
    "band of no matrices": Empty(lambda x, n: tf.linalg.band_part(x, n, 0), (zeros(0, 2, 2), scalar(9, "int64"))),
    "band of empty matrices": Empty(lambda x, n: tf.linalg.band_part(x, n, 0), (zeros(2, 0, 2), scalar(1, "int64"))),
    "crops of no boxes": Empty(
        lambda x, b, i: tf.image.crop_and_resize(x, b, i, [2, 2]), (zeros(1, 3, 3, 1), zeros(0, 4), ints())
    ),
    "crops without channels": Empty(
        lambda x, b, i: tf.image.crop_and_resize(x, b, i, [2, 2]), (zeros(1, 3, 3, 0), zeros(1, 4) * NAN, ints(0))
    ),
    "crops of other images without channels": Empty(
        lambda x, b, i: tf.image.crop_and_resize(x, b, i, [2, 2]), (zeros(1, 3, 3, 0), zeros(1, 4), ints(7))
    ),
    "one_hot of depth 0": Empty(lambda i, n: tf.one_hot(i, n), (ints(), scalar(0))),
    "top 0": Empty(lambda x, k: tf.math.top_k(x, k), (zeros(0), scalar(0))),
    "uniform integers": Empty(
        lambda n: tf.random.stateless_uniform(tf.stack([n]), [1, 2], 0, n, tf.int32), (scalar(0),)
    ),
    "update of none": Empty(_proximal_update, (scalar(0, "float32"),), zeros(0)),
}
