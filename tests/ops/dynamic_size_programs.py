"""Programs on arrays of dynamic size, for compiled functions: right ones, and ones that are refused."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.compiler.tf2xla.python import xla

from tests.ops.sweep.records import Array

BOUND = 5
SIZES = (0, 1, 2, BOUND - 1, BOUND)


@dataclasses.dataclass(frozen=True)
class Program:
    """A function of arrays. `dimensions` lists the dimensions of size `BOUND` of each array that become dynamic."""

    function: Callable[..., Any]
    arrays: Sequence[Array]
    dimensions: Sequence[Sequence[int]] = ((0,),)
    gradient: bool = False  # also returns the gradients with respect to the floats
    smallest: int = 0  # the function has no result for smaller sizes
    draws: bool = False  # draws random numbers, which are those of a compiled function with static sizes


def _random(*shape: int) -> Array:
    return np.random.default_rng(1).standard_normal(shape).astype(np.float32)


ROWS = _random(BOUND, 4)
SQUARE = _random(BOUND, BOUND)
IMAGES = _random(BOUND, 6, 6, 2)
KERNEL = _random(3, 3, 2, 4)
LABELS = np.array([0, 3, 1, 2, 0], np.int32)
WEIGHTS = _random(4, 4)


def on_rows(function: Callable[..., Any], gradient: bool = False, smallest: int = 0) -> Program:
    return Program(function, [ROWS], gradient=gradient, smallest=smallest)


def on_square(function: Callable[..., Any]) -> Program:
    return Program(function, [SQUARE], [(0, 1)])


def _batch_norm(x: tf.Tensor) -> Any:
    return list(tf.compat.v1.nn.fused_batch_norm(x, tf.ones(2), tf.zeros(2)))[:3]


def _perceptron(x: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    hidden = tf.nn.relu(x @ tf.constant(WEIGHTS))
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels, hidden @ tf.constant(WEIGHTS))


def _masked_perceptron(x: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    mask = x[:, 0] > 0
    return _perceptron(tf.boolean_mask(x, mask), tf.boolean_mask(labels, mask))


def _attention(x: tf.Tensor) -> tf.Tensor:
    scores = tf.nn.softmax(tf.matmul(x, x, transpose_b=True))
    values = scores @ x
    mean = tf.reduce_mean(values, -1, keepdims=True)
    return (values - mean) * tf.math.rsqrt(tf.math.reduce_variance(values, -1, keepdims=True) + 1e-3)


def _images(x: tf.Tensor) -> tf.Tensor:
    features = tf.nn.max_pool2d(tf.nn.relu(tf.nn.conv2d(x, tf.constant(KERNEL), 1, "SAME")), 2, 2, "VALID")
    return tf.reshape(features, [tf.shape(x)[0], 36])


def _unique(x: tf.Tensor) -> Any:
    values, positions = tf.unique(x)
    return values, positions, tf.gather(values, positions)


def _uniform(dtype: tf.DType) -> Callable[..., Any]:
    most = 1000 if dtype.is_integer else 1
    return lambda x: tf.random.stateless_uniform(tf.shape(x), [1, 2], 0, most, dtype)


_DRAWN = (tf.float32, tf.float64, tf.float16, tf.bfloat16, tf.int32, tf.int64)


# Results equal the CPU's for every size.
RIGHT: Mapping[str, Program] = {
    "sum": on_rows(lambda x: tf.reduce_sum(x, 0), gradient=True),
    "mean": on_rows(lambda x: tf.reduce_mean(x, 0), gradient=True, smallest=1),
    "maximum": on_rows(lambda x: tf.reduce_max(x, 0)),
    "product": on_rows(lambda x: tf.reduce_prod(x, 0)),
    "softmax": on_rows(lambda x: tf.nn.softmax(x, 0), gradient=True),
    "argmax": on_rows(lambda x: tf.argmax(x, 0), smallest=1),
    "any": on_rows(lambda x: tf.reduce_any(x > 1, 0)),
    "cumsum": on_rows(lambda x: tf.cumsum(x, 0), gradient=True),
    "reverse cumsum": on_rows(lambda x: tf.cumsum(x, 0, reverse=True, exclusive=True)),
    "cumprod": on_rows(lambda x: tf.math.cumprod(x, 0, reverse=True)),
    "sort": on_rows(lambda x: tf.sort(x, 0)),
    "argsort": on_rows(lambda x: tf.argsort(x, 0, stable=True)),
    "top k": on_rows(lambda x: list(tf.math.top_k(tf.transpose(x), 1)), smallest=1),
    "reverse": on_rows(lambda x: tf.reverse(x, [0])),
    "roll": on_rows(lambda x: tf.roll(x, 1, 0), gradient=True),
    "roll back": on_rows(lambda x: tf.roll(x, [-2, 1], [0, 1])),
    "first": on_rows(lambda x: x[0], smallest=1),
    "last": on_rows(lambda x: x[-1], smallest=1),
    "last three": on_rows(lambda x: x[-3:]),
    "last three but one": on_rows(lambda x: x[-3:-1]),
    "from a negative to a positive index": on_rows(lambda x: x[-3:3]),
    "first three": on_rows(lambda x: x[:3]),
    "inner": on_rows(lambda x: x[1:3, ..., 1:]),
    "all but the last": on_rows(lambda x: x[:-1]),
    "every second": on_rows(lambda x: x[1::2]),
    "backwards": on_rows(lambda x: x[::-1]),
    "backwards from inside": on_rows(lambda x: x[-2::-2, tf.newaxis]),
    "differences": on_rows(lambda x: x[1:] - x[:-1]),
    "pad": on_rows(lambda x: tf.pad(x, [[1, 1], [0, 0]])),
    "tile": on_rows(lambda x: tf.tile(x, [2, 1])),
    "concat": on_rows(lambda x: tf.concat([x, x * 2], 0)),
    "stack": on_rows(lambda x: tf.stack([x, x])),
    "split": on_rows(lambda x: tf.split(x, 2, 1)),
    "reshape": on_rows(lambda x: tf.reshape(x, [-1, 2, 2])),
    "products of columns": on_rows(lambda x: tf.matmul(x, x, transpose_a=True), gradient=True),
    "products of rows": on_rows(lambda x: tf.matmul(x, x, transpose_b=True), gradient=True),
    "einsum": on_rows(lambda x: tf.einsum("ij,ik->jk", x, x)),
    "roll in both dimensions": Program(lambda x: tf.roll(x, [1, 2, 3], [0, 1, 0]), [SQUARE], [(0, 1)]),
    "last of both dimensions": Program(lambda x: x[-2:, :-1], [SQUARE], [(0, 1)]),
    "last columns": Program(lambda x: x[..., tf.newaxis, -2:], [SQUARE], [(0, 1)]),
    "batched products": Program(lambda x: tf.matmul(x, x, transpose_b=True), [_random(BOUND, 3, 2)], gradient=True),
    "range": on_rows(lambda x: tf.range(tf.shape(x)[0])),
    "zeros": on_rows(lambda x: tf.zeros([tf.shape(x)[0], 3])),
    "ones like": on_rows(tf.ones_like),
    "zeros like": on_rows(tf.zeros_like),
    "size": on_rows(lambda x: [tf.shape(x), tf.size(x)]),
    "one hot": on_rows(lambda x: tf.one_hot(tf.argmax(x, 1), 4)),
    "sequence mask": on_rows(lambda x: tf.sequence_mask([1, 2], tf.shape(x)[0])),
    "where": on_rows(lambda x: tf.where(x > 0)),
    "mask": on_rows(lambda x: tf.boolean_mask(x, x[:, 0] > 0)),
    "gather of the last": on_rows(lambda x: tf.gather(x, tf.shape(x)[0] - 1), smallest=1),
    "scatter": on_rows(lambda x: tf.tensor_scatter_nd_add(x, [[0]], [[1.0, 2.0, 3.0, 4.0]]), smallest=1),
    "segments": on_rows(lambda x: tf.math.unsorted_segment_sum(x, tf.range(tf.shape(x)[0]) % 2, 2)),
    "centred": on_rows(lambda x: x - tf.reduce_mean(x, 0), gradient=True, smallest=1),
    "norm": on_rows(lambda x: tf.nn.l2_normalize(x, 1), gradient=True),
    "band": on_square(lambda x: tf.linalg.band_part(x, -1, 0)),
    "map": on_rows(lambda x: tf.map_fn(lambda row: row * 2.0, x), smallest=1),
    "scan": on_rows(lambda x: tf.scan(lambda total, row: total + row, x), smallest=1),
    "loop": on_rows(lambda x: tf.while_loop(lambda i, _: i < 3, lambda i, y: (i + 1, y * 1.5), (0, x))),
    "branch": on_rows(lambda x: tf.cond(tf.shape(x)[0] > 2, lambda: tf.reduce_sum(x, 0), lambda: tf.reduce_max(x, 0))),
    "diagonal": on_square(tf.linalg.diag_part),
    "matrix of a diagonal": on_rows(lambda x: tf.linalg.diag(x[:, 0])),
    "one hot of a dynamic depth": on_rows(lambda x: tf.one_hot([0, 1], tf.shape(x)[0])),
    "logarithm of gamma": on_rows(lambda x: tf.math.lgamma(tf.abs(x) + 1.0)),
    "one condition": on_rows(lambda x: tf.where(tf.reduce_sum(x) > 0, x, x * 2.0)),
    "multiples": on_rows(lambda x: tf.tile([1.0, 2.0], [tf.shape(x)[0]])),
    "unique": Program(_unique, [LABELS]),
    "unique of none": Program(lambda x: tf.size(tf.unique(tf.boolean_mask(x, x > 9))[0]), [LABELS]),
    "gradients of slices": on_rows(lambda x: [x[:-1], x[1:], x[-3:], x[::2], x[::-1]], gradient=True),
    "gradients of elements": on_rows(lambda x: [x[0], x[-1]], gradient=True, smallest=1),
    "gradient of a concatenation": on_rows(lambda x: tf.concat([x, x * 2.0, tf.ones([1, 4])], 0), gradient=True),
    "slices": on_rows(lambda x: [tf.slice(x, [1, 0], [-1, 2]), tf.slice(x, [0, 1], [tf.shape(x)[0], 2])], smallest=1),
    "parts": on_rows(lambda x: tf.split(x, [1, -1]), gradient=True, smallest=1),
    "two rows": Program(lambda x: tf.gather(x, [2, 0]), [SQUARE], [(1,)], gradient=True),
    "uniform": Program(lambda x: tf.random.stateless_uniform(tf.shape(x), [1, 2]), [ROWS], draws=True),
    "uniform columns": Program(_uniform(tf.float32), [SQUARE], [(1,)], draws=True),
    **{f"uniform {dtype.name}": Program(_uniform(dtype), [SQUARE], [(0, 1)], draws=True) for dtype in _DRAWN},
    "dropout": Program(lambda x: tf.nn.experimental.stateless_dropout(x, 0.5, [1, 2]), [ROWS], draws=True),
    "batch normalisation": Program(_batch_norm, [IMAGES], gradient=True, smallest=2),
    "images": Program(_images, [IMAGES], gradient=True, smallest=1),
    "perceptron": Program(_perceptron, [ROWS, LABELS], [(0,), (0,)], gradient=True),
    "perceptron on the rows of a mask": Program(_masked_perceptron, [ROWS, LABELS], [(0,), (0,)], gradient=True),
    "attention": Program(_attention, [_random(2, BOUND, 4)], [(1,)], gradient=True, smallest=1),
    "attention of a batch": Program(_attention, [_random(BOUND, 3, 4)], gradient=True, smallest=1),
}

# Lowerings would take the bound for the size.
REFUSED: Mapping[str, Program] = {
    "gradient of a scan": Program(lambda x: tf.scan(lambda a, row: a + row, x), [SQUARE], [(1,)], gradient=True),
    "rounding to a range": on_rows(lambda x: tf.quantization.quantize_and_dequantize_v2(x, -1.0, 1.0)),
    "normal": on_square(lambda x: tf.random.stateless_normal(tf.shape(x), [1, 2])),
    "contrast": Program(lambda x: tf.image.adjust_contrast(x, 2.0), [_random(2, BOUND, 3, 3)], [(1,)]),
    "a sum with static rows": on_rows(lambda x: x + tf.constant(ROWS)),
    "a product with static rows": on_rows(lambda x: tf.matmul(x, tf.constant(ROWS), transpose_a=True)),
    "batches of a product, one static": on_rows(lambda x: tf.matmul(x[:, tf.newaxis], _random(BOUND, 4, 2))),
    "an einsum with static rows": on_rows(lambda x: tf.einsum("ij,ij->", x, tf.constant(ROWS))),
    "features of a convolution": Program(
        lambda x: tf.nn.conv2d(x, tf.constant(_random(3, 3, 1, 4)), 1, "SAME"), [_random(1, 4, 4, BOUND)], [(3,)]
    ),
    "a shape without elements": on_rows(lambda x: tf.exp(x[:, :0])),
    "sizes that differ": on_rows(lambda x: tf.boolean_mask(x, x[:, 0] > 0) + tf.boolean_mask(x, x[:, 0] < 0)),
}

_ELEMENTWISE: Mapping[str, Callable[..., Any]] = {
    "arithmetic": lambda x: (x + x) * x - x,
    "sum of pairs": lambda x: tf.concat([x, x[:1]], 0),
    "mask": lambda x: tf.boolean_mask(x, tf.cast(x[:, 0], tf.bool)),
    "last": lambda x: x[-2:],
    "like": lambda x: [tf.ones_like(x), tf.zeros_like(x)],
    "transpose": lambda x: tf.transpose(x),
}
for _dtype in (np.float16, tf.bfloat16.as_numpy_dtype, np.float64, np.int32, np.int64, np.uint8, np.bool_):
    for _name, _function in _ELEMENTWISE.items():
        if _dtype is not np.bool_ or _name != "arithmetic":
            _array = (np.arange(BOUND * 4).reshape(BOUND, 4) % 3).astype(_dtype)
            RIGHT = {**RIGHT, f"{_name} of {np.dtype(_dtype).name}": Program(_function, [_array])}


def _body(program: Program, tensors: Sequence[tf.Tensor]) -> Any:
    if not program.gradient:
        return program.function(*tensors)
    floats = [tensor for tensor in tensors if tensor.dtype.is_floating]
    with tf.GradientTape() as tape:
        tape.watch(floats)
        results = tf.nest.flatten(program.function(*tensors))
        loss = tf.add_n([tf.reduce_sum(result**2) for result in results])
    return results, tape.gradient(loss, floats)


def expected(program: Program, size: int) -> Any:
    """Returns the current device's results for arrays of the true size."""
    tensors = []
    for array, dimensions in zip(program.arrays, program.dimensions):
        part = tuple(slice(size if d in dimensions else None) for d in range(array.ndim))
        tensors.append(tf.constant(array[part]))
    return tf.function(lambda *t: _body(program, t), autograph=False, jit_compile=program.draws)(*tensors)


def compiled(program: Program) -> Callable[[int], Any]:
    """Returns a function that compiles once, and runs for a size. Elements past the size are garbage."""

    @tf.function(jit_compile=True, autograph=False)
    def function(size: tf.Tensor, *padded: tf.Tensor) -> Any:
        tensors = []
        for tensor, dimensions in zip(padded, program.dimensions):
            shape = tensor.shape.as_list()
            for d in dimensions:
                tensor = xla.set_dynamic_dimension_size(tensor, d, size)
                shape[d] = None
            tensor.set_shape(shape)
            tensors.append(tensor)
        return _body(program, tensors)

    def run(size: int) -> Any:
        padded = []
        for array, dimensions in zip(program.arrays, program.dimensions):
            garbage: Any = {"f": np.nan, "V": np.nan, "b": True}.get(array.dtype.kind, 3)
            filled = np.full(array.shape, garbage, array.dtype)
            part = tuple(slice(size if d in dimensions else None) for d in range(array.ndim))
            filled[part] = array[part]
            padded.append(tf.constant(filled))
        return function(tf.constant(size, tf.int32), *padded)

    return run
