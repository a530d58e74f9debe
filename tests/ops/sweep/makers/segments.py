"""Makers for scatters, segments, splits and sequences, with indices below the indexed sizes."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from tests.ops.sweep.makers import maker
from tests.ops.sweep.makers.calls import call, pick, whole
from tests.ops.sweep.program import Program
from tests.ops.sweep.values import TYPES, draw_array, draw_shape, draw_style

Rng = np.random.Generator
_NUMBERS = tuple(dtype for dtype in TYPES if dtype != tf.bool)


def _scatter(op: str) -> None:
    @maker(op)
    def make(rng: Rng) -> Program:
        shape, some = draw_shape(rng, int(rng.integers(1, 4))), draw_shape(rng, int(rng.integers(1, 3)))
        dtype, index, style = pick(rng, *_NUMBERS), pick(rng, tf.int32, tf.int64), draw_style(rng)
        depth = int(rng.integers(1, len(shape) + 1))
        wide = int(rng.random() < 0.1)  # makes some indices out of range
        places = [rng.integers(-wide, max(1, size + wide), some) for size in shape[:depth]]
        arguments: dict[str, Any] = {"indices": whole(np.stack(places, -1), index)}
        arguments["updates"] = draw_array(rng, dtype, (*some, *shape[depth:]), style)
        if op == "ScatterNd":
            return call(op, {**arguments, "shape": whole(shape, index)})
        return call(op, {"tensor": draw_array(rng, dtype, shape, style), **arguments})


for _op in ("ScatterNd", "TensorScatterAdd", "TensorScatterSub", "TensorScatterMin", "TensorScatterMax",
            "TensorScatterUpdate"):  # fmt: skip
    _scatter(_op)


def _segments(op: str) -> None:
    @maker(op)
    def make(rng: Rng) -> Program:
        shape, dtype = draw_shape(rng, int(rng.integers(1, 4))), pick(rng, *_NUMBERS)
        index, count = pick(rng, tf.int32, tf.int64), int(rng.integers(0, 6))
        leading = int(rng.integers(1, len(shape) + 1)) if op.startswith("Unsorted") else 1
        ids = rng.integers(-1 if op.startswith("Unsorted") else 0, max(1, count), shape[:leading])
        arguments = {
            "data": draw_array(rng, dtype, shape, draw_style(rng)),
            "segment_ids": whole(ids if op.startswith("Unsorted") else np.sort(ids), index),
            "num_segments": whole(count, pick(rng, tf.int32, tf.int64)),
        }
        return call(op, arguments)


for _kind in ("Sum", "Prod", "Min", "Max"):
    _segments(f"UnsortedSegment{_kind}")
    _segments(f"Segment{_kind}V2")


@maker("ReverseSequence")
def make_reverse(rng: Rng) -> Program:
    x = draw_array(rng, pick(rng, *TYPES), draw_shape(rng, int(rng.integers(2, 5))))
    sequence, batch = (int(axis) for axis in rng.permutation(x.ndim)[:2])
    lengths = whole(rng.integers(0, x.shape[sequence] + 1, x.shape[batch]), pick(rng, tf.int32, tf.int64))
    return call("ReverseSequence", {"input": x, "seq_lengths": lengths}, seq_dim=sequence, batch_dim=batch)


@maker("SparseToDense")
def make_dense(rng: Rng) -> Program:
    shape, index, dtype = rng.integers(1, 5, 2), pick(rng, tf.int32, tf.int64), pick(rng, *TYPES)
    places = rng.permutation(int(shape.prod()))[: int(rng.integers(0, 4))]
    arguments = {
        "sparse_indices": whole(np.stack(np.unravel_index(np.sort(places), tuple(shape)), -1), index),
        "output_shape": whole(shape, index),
        "sparse_values": draw_array(rng, dtype, (len(places),)),
        "default_value": draw_array(rng, dtype, ()),
    }
    return call("SparseToDense", arguments, validate_indices=bool(rng.integers(2)))


@maker("Split")
def make_split(rng: Rng) -> Program:
    parts, shape = int(rng.integers(1, 4)), list(draw_shape(rng, int(rng.integers(1, 4))))
    axis = int(rng.integers(-len(shape), len(shape)))
    shape[axis] *= parts if rng.random() < 0.9 else 1
    return call("Split", {"axis": whole(axis), "value": draw_array(rng, pick(rng, *TYPES), shape)}, num_split=parts)


@maker("SplitV")
def make_split_sizes(rng: Rng) -> Program:
    sizes = rng.integers(0, 4, int(rng.integers(1, 4)))
    shape = list(draw_shape(rng, int(rng.integers(1, 4))))
    axis = int(rng.integers(-len(shape), len(shape)))
    shape[axis] = int(sizes.sum())
    if rng.random() < 0.4:
        sizes[int(rng.integers(len(sizes)))] = -1
    value = draw_array(rng, pick(rng, *TYPES), shape)
    arguments = {"value": value, "size_splits": whole(sizes, pick(rng, tf.int32, tf.int64)), "axis": whole(axis)}
    return call("SplitV", arguments, num_split=len(sizes))


@maker("StridedSliceGrad")
def make_slice_gradient(rng: Rng) -> Program:
    shape, index = draw_shape(rng, int(rng.integers(1, 4))), pick(rng, tf.int32, tf.int64)
    begin = [int(rng.integers(0, size + 1)) for size in shape]
    end = [int(rng.integers(start, size + 1)) for start, size in zip(begin, shape)]
    places = {"shape": shape, "begin": begin, "end": end, "strides": [1] * len(shape)}
    arguments = {name: whole(values, index) for name, values in places.items()}
    return call(
        "StridedSliceGrad", {**arguments, "dy": draw_array(rng, pick(rng, *TYPES), np.subtract(end, begin).tolist())}
    )


@maker("TridiagonalMatMul", "TridiagonalSolve")
def make_tridiagonal(rng: Rng) -> Program:
    dtype, size = pick(rng, tf.float32, tf.float64, tf.complex64), int(rng.integers(1, 6))
    side = draw_array(rng, dtype, (2, size, 3))
    if rng.random() < 0.5:
        bands = draw_array(rng, dtype, (2, 3, size))
        bands[:, 1] += 9
        return call("TridiagonalSolve", {"diagonals": bands, "rhs": side}, partial_pivoting=False)
    arguments = {name: draw_array(rng, dtype, (2, 1, size)) for name in ("superdiag", "maindiag", "subdiag")}
    return call("TridiagonalMatMul", {**arguments, "rhs": side})
