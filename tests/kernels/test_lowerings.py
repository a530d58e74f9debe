"""Ops with the plugin's own lowerings in place of TensorFlow's: results equal the CPU's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tests.support.compare import Tolerance, assert_same_graph

pytestmark = pytest.mark.usefixtures("hpu")

EQUATIONS = {
    "ab,cb->ac": ((2, 3), (4, 3)),
    "abc,cde->abde": ((2, 3, 4), (4, 5, 6)),
    "acbe,aecd->abcd": ((2, 4, 3, 6), (2, 6, 4, 5)),
    "...ab,...bc->...ac": ((2, 1, 3, 4), (5, 4, 2)),
    "a,a": ((5,), (5,)),
    "ab,ab->": ((2, 3), (2, 3)),
    "aab->ba": ((3, 3, 2),),
    "ab->b": ((2, 3),),
}


def values(*shape: int, dtype: Any = np.float32, seed: int = 5) -> Any:
    return (np.random.default_rng(seed).standard_normal(shape) * 3).astype(dtype)


def activations(x: tf.Tensor) -> Any:
    positive = tf.abs(x)
    return {
        "activations": (tf.nn.relu(x), tf.tanh(x), tf.sigmoid(x)),
        "powers": (
            tf.exp(x),
            tf.math.expm1(x),
            tf.math.log1p(positive),
            tf.sqrt(positive + 1),
            tf.math.rsqrt(positive + 1),
        ),
        "steps": (positive, tf.floor(x), tf.sign(x), tf.math.is_finite(x)),
    }


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_unary_ops(dtype: str) -> None:
    assert_same_graph(activations, values(4, 7, dtype=tf.as_dtype(dtype).as_numpy_dtype))


def test_edges_of_unary_ops() -> None:
    edges = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-30, -200.0, 200.0], np.float32)
    assert_same_graph(activations, edges, gradients=False)


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64, tf.bfloat16, tf.float16])
def test_maxima_and_minima_keep_nan(dtype: tf.DType) -> None:
    host = values(160, 257)
    host[3, 5] = np.nan

    @tf.function
    def bounds(x: tf.Tensor) -> Any:
        zero = tf.zeros([], x.dtype)
        elements = (
            *(tf.nn.relu(x), tf.nn.relu6(x), tf.nn.leaky_relu(x), tf.clip_by_value(x, -1, 1)),
            *(tf.maximum(zero, x), tf.maximum(x, zero), tf.minimum(zero, x), tf.minimum(x, zero)),
        )
        rows, columns = ([reduce(x, axis) for reduce in (tf.reduce_max, tf.reduce_min)] for axis in (1, 0))
        return elements, rows, columns, (tf.reduce_max(x), tf.reduce_min(x))

    with tf.device("/device:HPU:0"):
        elements, rows, columns, of_all = bounds(tf.cast(host, dtype))
    for result in elements:
        assert np.argwhere(np.isnan(result.numpy().astype(np.float64))).tolist() == [[3, 5]]
    for row, column in zip(rows, columns):
        assert np.flatnonzero(np.isnan(row.numpy().astype(np.float64))).tolist() == [3]
        assert np.flatnonzero(np.isnan(column.numpy().astype(np.float64))).tolist() == [5]
    for result in of_all:
        assert np.isnan(result.numpy().astype(np.float64))


def test_whole_numbers() -> None:
    assert_same_graph(lambda x: (tf.nn.relu(x), tf.abs(x), tf.sign(x)), values(4, 7, dtype=np.int32), gradients=False)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_sums_of_bias_gradients(dtype: str) -> None:
    def sums(matrix: tf.Tensor, images: tf.Tensor) -> Any:
        by_format = [tf.raw_ops.BiasAddGrad(out_backprop=images, data_format=name) for name in ("NHWC", "NCHW")]
        return tf.raw_ops.BiasAddGrad(out_backprop=matrix), by_format

    number = tf.as_dtype(dtype).as_numpy_dtype
    # Integers, whose sums up to 256 are exact in bfloat16.
    matrix, images = (np.round(values(*shape)).astype(number) for shape in ((6, 5), (2, 3, 4, 5)))
    assert_same_graph(sums, matrix, images, gradients=False)


def test_einsum() -> None:
    operands = {
        equation: [values(*shape, seed=i) for i, shape in enumerate(EQUATIONS[equation])] for equation in EQUATIONS
    }

    def all_of_them(scale: tf.Tensor) -> Any:
        return {equation: tf.einsum(equation, *(scale * one for one in operands[equation])) for equation in EQUATIONS}

    assert_same_graph(all_of_them, np.array(1.0, np.float32))


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_targets_among_the_largest(dtype: Any) -> None:
    predictions = values(9, 40)
    predictions[1:5, 7] = [np.nan, np.inf, -np.inf, predictions[4].max()]
    predictions[5] = predictions[5, 0]
    targets = np.array([3, 2, 2, 7, 7, 9, -1, 40, 0], dtype)

    def among(predictions: tf.Tensor, targets: tf.Tensor) -> Any:
        return [tf.math.in_top_k(targets, predictions, k) for k in (-1, 0, 1, 5, 39, 40, 41)]

    assert_same_graph(among, predictions, targets, gradients=False)
    assert_same_graph(among, values(3, 8), np.array([0, 1, 7], dtype), gradients=False)
    # Large enough for the emulator's kernel.
    many = values(64, 300)
    many[[3, 5, 7], [0, 150, 299]] = [np.nan, np.inf, -np.inf]
    assert_same_graph(among, many, np.argsort(many)[:, 260].astype(dtype), gradients=False)
    assert_same_graph(among, values(0, 8), np.zeros([0], dtype), gradients=False)


def test_targets_that_do_not_fit_the_predictions() -> None:
    @tf.function(input_signature=[tf.TensorSpec(None), tf.TensorSpec(None, tf.int32)])
    def among(predictions: tf.Tensor, targets: tf.Tensor) -> tf.Tensor:
        return tf.math.in_top_k(targets, predictions, 2)

    with tf.device("/device:HPU:0"), pytest.raises(tf.errors.InvalidArgumentError):
        among(tf.zeros([3, 4]), tf.zeros([2], tf.int32))


SHIFTS = {
    "one axis": (3, 1),
    "backwards": (-3, -1),
    "around": (45, 0),
    "nothing": (40, 1),
    "two axes": ([1, -2], [0, 1]),
}


@pytest.mark.parametrize("shape", [(30, 40), (1, 40), (5, 0), (64, 40, 3)])
def test_rolls(shape: tuple[int, ...]) -> None:
    def rolls(x: tf.Tensor, by: tf.Tensor) -> Any:
        known = {name: tf.roll(x * 2, *shift) for name, shift in SHIFTS.items()}
        return known, tf.roll(x, by, [1, 0]), tf.roll(x, by[0], 1)

    for by in ([2, 3], [-50, 0], [81, -1]):
        assert_same_graph(rolls, values(*shape), np.array(by, np.int32))


def test_rolls_of_whole_numbers() -> None:
    x = np.arange(3000, dtype=np.int64).reshape(30, 100)
    assert_same_graph(lambda x: tf.roll(x, [7, -7], [1, 0]), x, gradients=False)


def test_a_roll_needs_a_shift_for_each_axis() -> None:
    @tf.function(input_signature=[tf.TensorSpec([3, 4]), tf.TensorSpec(None, tf.int32)])
    def roll(x: tf.Tensor, shift: tf.Tensor) -> tf.Tensor:
        return tf.raw_ops.Roll(input=x, shift=shift, axis=1)

    with tf.device("/device:HPU:0"), pytest.raises(tf.errors.InvalidArgumentError):
        roll(tf.zeros([3, 4]), tf.constant([1]))


@pytest.mark.parametrize("axis", [2, -3])
def test_rolls_along_no_axis(axis: int) -> None:
    with tf.device("/device:HPU:0"), pytest.raises(tf.errors.InvalidArgumentError):
        tf.function(lambda x: tf.roll(x, 1, axis))(tf.zeros([3, 4]))


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_norms_and_bessel_functions(dtype: str) -> None:
    number = tf.as_dtype(dtype).as_numpy_dtype

    def norms(x: tf.Tensor) -> Any:
        return {
            "norms": [
                tf.math.reduce_euclidean_norm(x, axis, keep) for axis in (0, -1, [0, 2], None) for keep in (0, 1)
            ],
            "of nothing": tf.math.reduce_euclidean_norm(x[:, :0], 1),
        }

    tolerance = Tolerance(2e-2, 2e-2) if dtype == "bfloat16" else Tolerance(2e-6, 2e-6)
    assert_same_graph(norms, values(3, 4, 5, dtype=number), tolerance=tolerance, gradients=dtype != "bfloat16")
    edges = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-30, 8.0, -8.0, 60.0, -60.0], number)
    for x in (values(4, 7, dtype=number), edges, edges[:0]):
        assert_same_graph(
            lambda x: (tf.math.bessel_i0(x), tf.math.bessel_i1(x)), x, gradients=False, tolerance=tolerance
        )


@pytest.mark.parametrize("places", [[2], [-1], [5, 0, 9], [1, 1], []])
def test_changes_of_rows(places: list[int]) -> None:
    for op in (tf.raw_ops.InplaceUpdate, tf.raw_ops.InplaceAdd, tf.raw_ops.InplaceSub):

        def change(array: tf.Tensor, rows: tf.Tensor, op: Any = op) -> tf.Tensor:
            return op(x=array + 1, i=tf.constant(places, tf.int32), v=rows)  # the sum has no other consumer

        for dtype in (np.float32, np.int32):
            array, rows = values(4, 3, dtype=dtype), values(len(places), 3, dtype=dtype, seed=1)
            assert_same_graph(change, array, rows, gradients=False)


def test_ctc_loss() -> None:
    def loss(logits: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
        lengths = tf.constant([4, 2, 3]), tf.constant([10, 8, 9])
        return tf.nn.ctc_loss(labels, logits, *lengths, blank_index=0)

    labels = np.random.default_rng(0).integers(1, 8, (3, 4)).astype(np.int32)
    assert_same_graph(loss, values(10, 3, 8), labels, tolerance=Tolerance(1e-4, 1e-4))
