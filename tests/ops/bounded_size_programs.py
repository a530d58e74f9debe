"""Programs whose arguments change their sizes, for recipes that serve several sizes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from tests.ops.sweep.records import Array

# The first size has a static recipe. The other sizes share one recipe.
SIZES = (4, 10, 11, 12)


@dataclasses.dataclass(frozen=True)
class Program:
    """A function, and its arguments for a size."""

    function: Callable[..., Any]
    arrays: Callable[[int], Sequence[Array]]
    gradient: bool = False  # also returns the gradients with respect to the floats


def _normal(*shape: int) -> Array:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def _integers(most: int, *shape: int) -> Array:
    return np.random.default_rng(sum(shape)).integers(0, most, shape).astype(np.int32)


def _matrix(n: int) -> Sequence[Array]:
    return [_normal(n, 3)]


def _columns(n: int) -> Sequence[Array]:
    return [_normal(3, n, 2)]


def _number(n: int) -> Sequence[Array]:
    """A matrix of static shape, and a number up to its size."""
    return [_normal(16, 3), np.array(n, np.int32)]


def _rows_and_number(n: int) -> Sequence[Array]:
    return [_normal(n, 3), np.array(n - 1, np.int32)]


def _slice(function: Callable[..., Any], arrays: Callable[[int], Sequence[Array]] = _matrix) -> Program:
    return Program(function, arrays, gradient=True)


def _dropout_bits(x: tf.Tensor) -> tf.Tensor:
    return tf.bitcast(tf.bitcast(x, tf.int32), tf.float32)


def _wide_bits(x: tf.Tensor) -> Any:
    return tf.bitcast(tf.reshape(x, [-1, 3, 2]), tf.int64), tf.bitcast(x, tf.int16)


PROGRAMS: Mapping[str, Program] = {
    # Slices of a dynamic dimension.
    "first": _slice(lambda x: x[0]),
    "last": _slice(lambda x: x[-1]),
    "last column": _slice(lambda x: x[:, -1], _columns),
    "last but one column": _slice(lambda x: x[..., -2, :], _columns),
    "second column": _slice(lambda x: x[:, 1], _columns),
    "column of images": _slice(lambda x: x[:, 1], lambda n: [_normal(n, 3, n)]),
    "all but the first": _slice(lambda x: x[1:]),
    "all but the last": _slice(lambda x: x[:-1]),
    "all but the last column": _slice(lambda x: x[:, :-1], _columns),
    "differences": _slice(lambda x: x[:, 1:] - x[:, :-1], _columns),
    "inner": _slice(lambda x: x[1:3, ..., 1:]),
    "beyond": _slice(lambda x: x[2:11]),
    "behind": _slice(lambda x: x[6:]),
    "first three": _slice(lambda x: x[:3]),
    "last three": _slice(lambda x: x[-3:]),
    "last five": _slice(lambda x: x[-5:-2]),
    "every second": _slice(lambda x: x[::2]),
    "every second column": _slice(lambda x: x[:, 1::2], _columns),
    "every third from the end": _slice(lambda x: x[-7::3]),
    "backwards": _slice(lambda x: x[::-1]),
    "backwards from inside": _slice(lambda x: x[-2::-2, tf.newaxis]),
    "backwards to inside": _slice(lambda x: x[7:0:-3]),
    "new axes": _slice(lambda x: x[tf.newaxis, 1:, tf.newaxis, :2]),
    "static column": _slice(lambda x: x[:, -1]),
    "static columns": _slice(lambda x: x[:, ::-2]),
    # Symbolic slices.
    "up to a number": _slice(lambda x, n: x[:n], _number),
    "from a number": _slice(lambda x, n: x[n:], _number),
    "up to a negative number": _slice(lambda x, n: x[:-n], _number),
    "from a negative number": _slice(lambda x, n: x[-n:], _number),
    "at a number": _slice(lambda x, n: x[n], _number),
    "rows at a number": _slice(lambda x, n: x[n], _rows_and_number),
    "rows at a negative number": _slice(lambda x, n: x[-n], _rows_and_number),
    "rows up to a number": _slice(lambda x, n: x[:n] * 2.0, _rows_and_number),
    "rows from a number": _slice(lambda x, n: x[n:] * 2.0, _rows_and_number),
    "sized slice": _slice(lambda x, y: x[: tf.shape(y)[0]] + y, lambda n: [_normal(16, 3), _normal(n, 3)]),
    "sized slice of a dynamic array": _slice(
        lambda x, y: x[:, : tf.shape(y)[0] - 1] + y[1:], lambda n: [_normal(2, n, 3), _normal(n - 1, 3)]
    ),
    "half": _slice(lambda x: [x[: tf.shape(x)[0] // 2], x[tf.shape(x)[0] // 2 :]]),
    "at a value": _slice(lambda x, i: x[i[0]], lambda n: [_normal(n, 3), np.array([1], np.int32)]),
    "at a negative value": _slice(lambda x, i: x[:, i[0]], lambda n: [_normal(2, n), np.array([-1], np.int32)]),
    "slice": _slice(lambda x: tf.slice(x, [1, 0], [2, 3])),
    "slice to the end": _slice(lambda x: tf.slice(x, [1, 0], [-1, 2])),
    "slice of a number": _slice(lambda x, n: tf.slice(x, [0, 1], [n, 2]), _number),
    "slice of rows": _slice(lambda x, n: tf.slice(x, [0, 1], [n, 2]), _rows_and_number),
    "slice from a number": _slice(lambda x, n: tf.slice(x, [n, 1], [2, 2]), _number),
    "slice of rows from a number": _slice(lambda x, n: tf.slice(x, [n - 1, 1], [2, 2]), _rows_and_number),
    "slice of the rest": _slice(lambda x, n: tf.slice(x, [n - 1, 1], [-1, 2]), _rows_and_number),
    "slice of static columns": _slice(lambda x: tf.slice(x, [0, 1], [-1, 2])),
    # Parts.
    "split of columns": _slice(lambda x: tf.split(x, 3, 1)),
    "split": _slice(lambda x: tf.split(x, 2, 0), lambda n: [_normal(n * 2, 3)]),
    "split of sizes": _slice(lambda x: tf.split(x, [1, 2], 1)),
    "split of the rest": _slice(lambda x: tf.split(x, [1, 2, -1], 0)),
    "split of a size": _slice(
        lambda x, y: tf.split(x, [tf.shape(y)[0], 1], 0), lambda n: [_normal(n, 3), _normal(n - 1)]
    ),
    "unstack": _slice(lambda x: tf.unstack(x, axis=1)),
    "concat": _slice(lambda x, y: tf.concat([x, y], 0), lambda n: [_normal(n, 3), _normal(n - 1, 3)]),
    "concat of columns": _slice(lambda x, y: tf.concat([x, y], 1), lambda n: [_normal(2, n, 3), _normal(2, 1, 3)]),
    "concat with static": _slice(lambda x: tf.concat([tf.ones([1, 3]), x, x], 0)),
    "concat of static columns": _slice(lambda x: tf.concat([x, x * 2], 1)),
    "stack": _slice(lambda x: tf.stack([x, x * 2], 1)),
    "pad": _slice(lambda x: tf.pad(x, [[1, 2], [0, 1]])),
    "pad with ones": _slice(lambda x: tf.pad(x, [[1, 2], [0, 1]], constant_values=1)),
    "mirror": _slice(lambda x: tf.pad(x, [[1, 2], [0, 1]], "REFLECT")),
    "symmetric": _slice(lambda x: tf.pad(x, [[1, 2], [0, 1]], "SYMMETRIC")),
    "bits": Program(_dropout_bits, _matrix),
    "pairs of bits": Program(_wide_bits, lambda n: [_integers(9, n, 6)]),
    # Repetition.
    "tile": _slice(lambda x: tf.tile(x, [2, 2])),
    "tile of a number": _slice(lambda x, n: tf.tile(x[:2], [n, 1]), _number),
    "tile of one row": _slice(lambda x, n: tf.tile(x[:1], [n, 1]), _number),
    "tile to a size": _slice(
        lambda x, y: tf.tile(x[:1], [tf.shape(y)[0], 1]) * y, lambda n: [_normal(1, 3), _normal(n, 3)]
    ),
    "tile of pairs": _slice(lambda x, y: tf.tile(x, [tf.shape(y)[0], 1]), lambda n: [_normal(2, 3), _normal(n, 3)]),
    "tile of rows": _slice(lambda x, y: tf.tile(x, [tf.shape(y)[0], 1]), lambda n: [_normal(n, 3), _normal(n, 3)]),
    "repeat": _slice(lambda x: tf.repeat(x, 2, 0)),
    "repeat of a number": _slice(lambda x, n: tf.repeat(x[:2], n, 0), _number),
    "broadcast": _slice(lambda x, n: tf.broadcast_to(x[0], [n, 3]), _number),
    "broadcast of rows": _slice(lambda x: tf.broadcast_to(x[:, tf.newaxis], [tf.shape(x)[0], 2, 3])),
    "meshgrid": Program(lambda x: tf.meshgrid(x, x), lambda n: [_normal(n)]),
    "range": Program(
        lambda x, n: [x[0, 0] * tf.cast(r, tf.float32) for r in (tf.range(n), tf.range(2, n))],
        _number,
    ),
    "descending range": Program(lambda x, n: x[0, 0] * tf.cast(tf.range(n, 0, -2), tf.float32), _number),
    "float range": Program(lambda x: tf.range(tf.cast(tf.shape(x)[0], tf.float32)) * 2.0, _matrix),
    "fill": Program(lambda x, n: [tf.fill([n, 2], x[0, 0]), tf.zeros([n]), tf.ones([2, n])], _number),
    "one hot": Program(lambda x: tf.one_hot(x, 5), lambda n: [_integers(5, n)]),
    "one hot of a depth": Program(lambda x: tf.one_hot(x, tf.shape(x)[0]), lambda n: [_integers(4, n)]),
    "one hot of a depth in front": Program(
        lambda x: tf.one_hot(x, tf.shape(x)[0], axis=0), lambda n: [_integers(4, n)]
    ),
    "sequence mask": Program(lambda x: tf.sequence_mask(x[:, 0], tf.shape(x)[1]), lambda n: [_integers(5, n, n)]),
    "padding mask": Program(
        lambda x: tf.cast(tf.equal(x, 0), tf.float32)[:, None, None, :], lambda n: [_integers(3, n, n)]
    ),
    "look ahead mask": Program(lambda x: 1 - tf.linalg.band_part(tf.ones([tf.shape(x)[0]] * 2), -1, 0), _matrix),
    "linspace": Program(lambda x: tf.linspace(0.0, 1.0, tf.shape(x)[0]), _matrix),
    # Scans and orders.
    "cumsum": _slice(lambda x: tf.cumsum(x, 0, exclusive=True)),
    "cumsum of columns": _slice(lambda x: tf.cumsum(x, 1, reverse=True), _columns),
    "cumprod": _slice(lambda x: tf.math.cumprod(x, 0)),
    "cumulative logsumexp": _slice(lambda x: tf.math.cumulative_logsumexp(x, 0)),
    "reverse": _slice(lambda x: tf.reverse(x, [0])),
    "reverse sequence": _slice(
        lambda x, n: tf.reverse_sequence(x, n, 1, 0), lambda n: [_normal(n, 5, 2), _integers(5, n)]
    ),
    "reverse sequences of a size": _slice(
        lambda x, n: tf.reverse_sequence(x, n, 1, 0), lambda n: [_normal(3, n, 2), np.array([1, n, 2], np.int64)]
    ),
    "roll": _slice(lambda x: tf.roll(x, 2, 0)),
    "sort": Program(lambda x: [tf.sort(x, 0), tf.argsort(x, 0, "DESCENDING", stable=True)], _matrix),
    "top k": Program(lambda x: list(tf.math.top_k(x, 2)), lambda n: [_normal(n, 4)]),
    "top k of columns": Program(lambda x: list(tf.math.top_k(x, 2)), lambda n: [_normal(3, n)]),
    "top k of a number": Program(
        lambda x, n: list(tf.math.top_k(x, n)), lambda n: [_normal(3, 16), np.array(n, np.int32)]
    ),
    "top k of all": Program(lambda x: list(tf.math.top_k(x, tf.shape(x)[1])), lambda n: [_normal(3, n)]),
    "in top k": Program(lambda x, t: tf.math.in_top_k(t, x, 2), lambda n: [_normal(n, 4), _integers(4, n)]),
    "searchsorted": Program(lambda x, y: tf.searchsorted(x, y), lambda n: [np.sort(_normal(n)), _normal(n)]),
    "invert permutation": Program(tf.math.invert_permutation, lambda n: [np.random.default_rng(n).permutation(n)]),
    # Masks.
    "mask": _slice(lambda x: tf.reduce_sum(tf.boolean_mask(x, x > 0))),
    "mask of rows": _slice(lambda x: tf.reduce_sum(tf.boolean_mask(x, x[:, 0] > 0), 0)),
    "number of true elements": Program(lambda x: tf.shape(tf.where(x > 0))[0], _matrix),
    "where": _slice(lambda x: tf.where(x > 0, x, x * 2.0)),
    "where of rows": _slice(lambda x: tf.where(x[:, :1] > 0, x, 0.0)),
    "where of static columns": _slice(lambda x: tf.where(tf.constant([True, False, True]), x, x * 2.0)),
    "where of a scalar": _slice(lambda x: tf.where(tf.reduce_sum(x) > 0, x, x * 2.0)),
    # Gathers and scatters.
    "gather": _slice(lambda x, i: tf.gather(x, i), lambda n: [_normal(n, 3), _integers(n, n - 1)]),
    "gather columns": _slice(lambda x, i: tf.gather(x, i, axis=1), lambda n: [_normal(2, n, 3), _integers(n, 4)]),
    "gather batches": _slice(
        lambda x, i: tf.gather(x, i, batch_dims=1), lambda n: [_normal(n, 5, 3), _integers(5, n, 2)]
    ),
    "gather batches of a size": _slice(
        lambda x, i: tf.gather(x, i, batch_dims=1), lambda n: [_normal(2, n, 3), _integers(n, 2, 4)]
    ),
    "gather nd": _slice(lambda x, i: tf.gather_nd(x, i), lambda n: [_normal(n, 3), _integers(3, n, 2)]),
    "gather nd of rows": _slice(lambda x, i: tf.gather_nd(x, i), lambda n: [_normal(4, n), _integers(4, n, 1)]),
    "gather nd batches": _slice(
        lambda x, i: tf.gather_nd(x, i, batch_dims=1), lambda n: [_normal(n, 5, 3), _integers(5, n, 2, 1)]
    ),
    "gather of static rows": _slice(lambda x: tf.gather(x, [0, 2]), lambda n: [_normal(4, n)]),
    "gather of one row": _slice(lambda x: tf.gather(x, 1), lambda n: [_normal(4, n)]),
    "update": _slice(
        lambda x, u: tf.tensor_scatter_nd_update(x, [[0], [2]], u), lambda n: [_normal(n, 3), _normal(2, 3)]
    ),
    "updates": _slice(
        lambda x, u, i: tf.tensor_scatter_nd_add(x, i, u), lambda n: [_normal(5, 3), _normal(n, 3), _integers(5, n, 1)]
    ),
    "scatter nd": _slice(lambda u, i: tf.scatter_nd(i, u, [6, 3]), lambda n: [_normal(n, 3), _integers(6, n, 1)]),
    "scatter nd of a size": _slice(
        lambda u, i: tf.scatter_nd(i, u, [tf.shape(u)[0], 3]), lambda n: [_normal(n, 3), _integers(n, n, 1)]
    ),
    "stitch": _slice(lambda x, y: tf.dynamic_stitch([[0, 2], [1]], [x, y]), lambda n: [_normal(2, n), _normal(1, n)]),
    "stitch of rows": Program(
        lambda x, y: tf.dynamic_stitch([tf.range(tf.shape(x)[0]) * 2, tf.range(tf.shape(x)[0]) * 2 + 1], [x, y]),
        lambda n: [_normal(n, 2), _normal(n, 2)],
    ),
    "sparse to dense": Program(
        lambda i, v: tf.scatter_nd(i[:, None], v, [tf.shape(v)[0]]), lambda n: [_integers(n, n), _normal(n)]
    ),
    # Segments.
    "segment sum": _slice(
        lambda x, i: tf.math.unsorted_segment_sum(x, i, 5), lambda n: [_normal(n, 3), _integers(5, n)]
    ),
    "segment sums of a number": _slice(
        lambda x, i: tf.math.unsorted_segment_sum(x, i, tf.shape(x)[0]), lambda n: [_normal(n, 3), _integers(n, n)]
    ),
    "segment maximum": _slice(
        lambda x, i: tf.math.unsorted_segment_max(x, i, 5), lambda n: [_normal(n, 3), _integers(5, n)]
    ),
    "segment mean": _slice(
        lambda x, i: tf.math.unsorted_segment_mean(x, i, 5), lambda n: [_normal(n, 3), _integers(5, n)]
    ),
    "sorted segments": Program(
        lambda x, i: tf.raw_ops.SegmentSumV2(data=x, segment_ids=i, num_segments=5),
        lambda n: [_normal(n, 3), np.sort(_integers(5, n))],
    ),
    "bincount": Program(lambda i: tf.math.bincount(i, minlength=6, maxlength=6), lambda n: [_integers(6, n)]),
    "dense bincount": Program(
        lambda i: tf.raw_ops.DenseBincount(input=i, size=6, weights=tf.zeros([0]), binary_output=False),
        lambda n: [_integers(6, n)],
    ),
    # Matrices.
    "band part": _slice(lambda x: tf.linalg.band_part(x, 1, 0), lambda n: [_normal(n, n)]),
    "diagonal": _slice(tf.linalg.diag, lambda n: [_normal(n)]),
    "batch of diagonals": _slice(tf.linalg.diag, lambda n: [_normal(n, 3)]),
    "diagonal part": _slice(tf.linalg.diag_part, lambda n: [_normal(n, n)]),
    "batch of diagonal parts": _slice(tf.linalg.diag_part, lambda n: [_normal(n, 3, 3)]),
    "set diagonal": _slice(lambda x, y: tf.linalg.set_diag(x, y), lambda n: [_normal(n, n), _normal(n)]),
    "batch of set diagonals": _slice(
        lambda x, y: tf.linalg.set_diag(x, y), lambda n: [_normal(n, 3, 3), _normal(n, 3)]
    ),
    "trace": _slice(tf.linalg.trace, lambda n: [_normal(n, n)]),
    "identity": Program(lambda x: tf.eye(tf.shape(x)[0]), _matrix),
    "identities": Program(lambda x: tf.eye(3, batch_shape=[tf.shape(x)[0]]), _matrix),
    "product": _slice(lambda x, y: x @ y, lambda n: [_normal(n, 3), _normal(3, n)]),
    "transposed product": _slice(
        lambda x, y: tf.matmul(x, y, transpose_a=True), lambda n: [_normal(n, 3), _normal(n, 2)]
    ),
    "batched product": _slice(lambda x, y: x @ y, lambda n: [_normal(2, n, 3), _normal(2, 3, n)]),
    "product of batches": _slice(lambda x, y: x @ y, lambda n: [_normal(n, 4, 3), _normal(n, 3, 2)]),
    "product of batches and a matrix": _slice(lambda x, y: x @ y, lambda n: [_normal(n, 4, 3), _normal(3, 2)]),
    "batch matmul broadcast": _slice(lambda x, y: x @ y, lambda n: [_normal(n, 4, 3), _normal(1, 3, 2)]),
    "einsum": _slice(lambda x, y: tf.einsum("bld,bmd->blm", x, y), lambda n: [_normal(2, n, 3), _normal(2, n - 1, 3)]),
    "einsum with a weight": _slice(
        lambda x, y: tf.einsum("bld,dhk->bhlk", x, y), lambda n: [_normal(2, n, 4), _normal(4, 3, 2)]
    ),
    "einsum of a sum": _slice(lambda x: tf.einsum("bld->bd", x), lambda n: [_normal(2, n, 4)]),
    "tensordot": _slice(lambda x, y: tf.tensordot(x, y, [[1], [0]]), lambda n: [_normal(2, n, 3), _normal(n, 3)]),
    "tensordot with a weight": _slice(lambda x, y: tf.tensordot(x, y, 1), lambda n: [_normal(2, n, 3), _normal(3, 2)]),
    # Blocks and boxes.
    "space to batch": _slice(lambda x: tf.space_to_batch(x, [2], [[0, 0]]), lambda n: [_normal(3, 2 * n, 2)]),
    "space to batch of a batch": _slice(lambda x: tf.space_to_batch(x, [2], [[1, 1]]), lambda n: [_normal(n, 6, 2)]),
    "batch to space": _slice(lambda x: tf.batch_to_space(x, [2], [[0, 0]]), lambda n: [_normal(4, n, 2)]),
    "batch to space of a batch": _slice(
        lambda x: tf.batch_to_space(x, [2], [[1, 0]]), lambda n: [_normal(2 * n, 3, 2)]
    ),
    "dilated convolution": _slice(
        lambda x: tf.nn.convolution(x, tf.ones([3, 2, 4]), padding="VALID", dilations=2),
        lambda n: [_normal(3, n + 4, 2)],
    ),
    "crop": _slice(
        lambda x, b: tf.image.crop_and_resize(x, b, tf.zeros(tf.shape(b)[:1], tf.int32), [3, 3]),
        lambda n: [_normal(1, 5, 5, 2), np.abs(_normal(n, 4))],
    ),
    "depth to space": _slice(lambda x: tf.nn.depth_to_space(x, 2), lambda n: [_normal(n, 2, 2, 4)]),
    "space to depth": _slice(lambda x: tf.nn.space_to_depth(x, 2), lambda n: [_normal(n, 2, 2, 4)]),
    # Shapes.
    "reshape": _slice(lambda x: tf.reshape(x, [tf.shape(x)[0], 2, 3]), lambda n: [_normal(n, 6)]),
    "flatten": _slice(lambda x: tf.reshape(x, [-1]), lambda n: [_normal(n, 6)]),
    "heads": _slice(
        lambda x: tf.transpose(tf.reshape(x, [tf.shape(x)[0], -1, 2, 3]), [0, 2, 1, 3]),
        lambda n: [_normal(n, n - 1, 6)],
    ),
    "merged heads": _slice(
        lambda x: tf.reshape(x, [tf.shape(x)[0], tf.shape(x)[1], 6]), lambda n: [_normal(2, n, 2, 3)]
    ),
    "merged dimensions": _slice(lambda x: tf.reshape(x, [-1, 3]), lambda n: [_normal(n, n - 1, 3)]),
    "split dimension": _slice(
        lambda x, y: tf.reshape(x, [tf.shape(y)[0], -1, 3]), lambda n: [_normal(n * 2, 3), _normal(n)]
    ),
    "reductions": _slice(
        lambda x: [tf.reduce_mean(x, 0), tf.reduce_max(x), tf.reduce_prod(x, 0), tf.reduce_logsumexp(x, 0)]
    ),
    "variance": _slice(lambda x: tf.nn.moments(x, [0, 1]), _columns),
    "losses": _slice(
        lambda x, y: [tf.nn.sparse_softmax_cross_entropy_with_logits(y, x), tf.nn.log_softmax(x)],
        lambda n: [_normal(n, 4), _integers(4, n)],
    ),
}


# Programs whose sizes have a recipe each, with the reason.
OWN_RECIPES: Mapping[str, str] = {
    "bincount": "the number of bins is computed from values",
    "sized slice of a dynamic array": "an index may be negative, so the slice's bound is not that of the other array",
    "descending range": "XLA infers no bound of the size of a descending range",
    "float range": "the size of the result depends on floats",
    "linspace": "the size of the result is computed from floats",
    "stitch of rows": "the indices of DynamicStitch are compile-time constants",
    "set diagonal": "XLA infers no bounds of the diagonal's size",
    "batch matmul broadcast": "a batch of 1 is combined with a dynamic batch",
}


def _body(program: Program, tensors: Sequence[tf.Tensor]) -> Any:
    if not program.gradient:
        return program.function(*tensors)
    floats = [tensor for tensor in tensors if tensor.dtype.is_floating]
    with tf.GradientTape() as tape:
        tape.watch(floats)
        results = tf.nest.flatten(program.function(*tensors))
        loss = tf.add_n([tf.reduce_sum(result**2) for result in results])
    return results, [tf.convert_to_tensor(one) for one in tape.gradient(loss, floats) if one is not None]


def function_of(program: Program) -> Callable[[int], Any]:
    """Returns a function that runs the program for a size."""
    shapes = [
        [size if size == other else None for size, other in zip(one.shape, two.shape)]
        for one, two in zip(program.arrays(SIZES[0]), program.arrays(SIZES[1]))
    ]
    signature = [tf.TensorSpec(shape, one.dtype) for shape, one in zip(shapes, program.arrays(SIZES[0]))]
    function = tf.function(lambda *t: _body(program, t), input_signature=signature, autograph=False)
    return lambda size: function(*map(tf.constant, program.arrays(size)))
