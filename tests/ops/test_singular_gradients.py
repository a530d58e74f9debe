"""Gradients of square roots and reciprocals at singular points, where an upstream gradient of 0 gives 0."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import tensorflow as tf

from tests.ops.outcomes import differences
from tests.support.compare import assert_same_graph

pytestmark = pytest.mark.usefixtures("hpu")

OPS = ("InvGrad", "ReciprocalGrad", "RsqrtGrad", "SigmoidGrad", "SqrtGrad", "TanhGrad")
SPECIAL = [0.0, -0.0, 1.0, -2.0, np.inf, -np.inf, np.nan]
FINITE = [0.0, -0.0, 1.0, -2.0]  # the order of products decides where a complex infinity becomes NaN


def assert_same_pairs(op: str, dtype: str) -> None:
    numbers = np.array(FINITE if dtype.startswith("complex") else SPECIAL)
    y, dy = (tf.cast(tf.constant(pairs.ravel()), dtype) for pairs in np.meshgrid(numbers, numbers))
    assert not differences(lambda: getattr(tf.raw_ops, op)(y=y, dy=dy))


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("op", OPS)
def test_all_pairs_of_special_values(op: str, dtype: str) -> None:
    assert_same_pairs(op, dtype)


@pytest.mark.parametrize("dtype", ["float64", "complex64", "complex128"])
@pytest.mark.parametrize("op", OPS)
def test_all_pairs_in_types_that_cards_lack(op: str, dtype: str) -> None:
    assert_same_pairs(op, dtype)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("op", OPS)
def test_complex_infinities(op: str, dtype: str) -> None:
    y = tf.constant([complex(np.inf, 0), complex(0, -np.inf), complex(np.nan, 1), 0], dtype)
    assert not differences(lambda: getattr(tf.raw_ops, op)(y=y, dy=tf.zeros_like(y)))


def distances(x: tf.Tensor) -> tf.Tensor:
    """Sum of the distances between points; the distances of points to themselves are masked."""
    between = tf.norm(x[None] - x[:, None], axis=2)
    return tf.reduce_sum(between * (1.0 - tf.eye(3)))


def norms_of_used_rows(x: tf.Tensor) -> tf.Tensor:
    """Sum of the norms of rows of an embedding; row 0 is padding."""
    ids = tf.constant([0, 1, 0, 2])
    return tf.reduce_sum(tf.norm(tf.gather(x, ids), axis=1) * tf.cast(ids > 0, tf.float32))


def standard_deviations(x: tf.Tensor) -> tf.Tensor:
    """Sum of the standard deviations of columns; the weight of a constant column is 0."""
    return tf.reduce_sum(tf.math.reduce_std(x * tf.constant([0.0, 1.0]), 0) * tf.constant([0.0, 1.0]))


def norms_of_chosen_rows(x: tf.Tensor) -> tf.Tensor:
    squares = tf.reduce_sum(x * x, 1)
    return tf.reduce_sum(tf.where(squares > 0.0, tf.sqrt(squares), tf.zeros_like(squares)))


def inverse_norms(x: tf.Tensor) -> tf.Tensor:
    squares = tf.reduce_sum(x * x, 1)
    return tf.reduce_sum(tf.where(squares > 0.0, tf.math.rsqrt(squares), tf.ones_like(squares)))


def reciprocals(x: tf.Tensor) -> tf.Tensor:
    return tf.reduce_sum(tf.where(x != 0.0, tf.math.reciprocal(x), x))


@pytest.mark.parametrize(
    "loss",
    [distances, norms_of_used_rows, standard_deviations, norms_of_chosen_rows, inverse_norms, reciprocals],
    ids=lambda loss: loss.__name__,
)
def test_masked_losses(loss: Callable[[tf.Tensor], tf.Tensor]) -> None:
    x = np.array([[0, 0], [3, 4], [6, 8]], np.float32)
    _, (gradient,) = assert_same_graph(loss, x)
    assert np.isfinite(tf.convert_to_tensor(gradient).numpy()).all()
