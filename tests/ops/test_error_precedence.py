"""A step reports the error of the failing op, not errors of ops that wait for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tests.support.compare import HPU

pytestmark = pytest.mark.usefixtures("hpu")
v1 = tf.compat.v1
MATRIX = np.array([[1, 2], [3, 4]], np.float32)


@pytest.mark.parametrize("axes", [1, [1], [0, 1], [[1]], [[0, 1]], [[0], [7]]])
def test_axes_of_a_tensordot(axes: Any) -> None:
    """Several clusters and the host compute the shapes and indices of one product."""
    with tf.Graph().as_default(), v1.Session() as session:
        fed = v1.placeholder(tf.int32)
        product = tf.tensordot(tf.constant(MATRIX), tf.constant(MATRIX), fed)
        for _ in range(3):
            with pytest.raises(tf.errors.InvalidArgumentError):
                session.run(product, {fed: axes})
        np.testing.assert_allclose(session.run(product, {fed: [[1], [0]]}), MATRIX @ MATRIX)


def sliced(x: tf.Tensor) -> tf.Tensor:
    return x[:, 3]


def reshaped(x: tf.Tensor) -> tf.Tensor:
    return tf.reshape(x, [5, 7])


def multiplied(x: tf.Tensor) -> tf.Tensor:
    return tf.matmul(x, tf.concat([x, x], 0))


@pytest.mark.parametrize("program", [sliced, reshaped, multiplied])
def test_a_cluster_that_the_host_waits_for(program: Callable[[tf.Tensor], tf.Tensor]) -> None:
    """A cluster fails in its CPU fallback while copies to and from the device are pending."""

    @tf.function(input_signature=[tf.TensorSpec(None)])
    def step(x: tf.Tensor) -> Any:
        y = program(tf.sin(x) * 2.0)
        found = tf.where(y > 0.5)
        return tf.cast(tf.shape(found)[0], tf.float32) + tf.reduce_sum(y * 2.0)

    with tf.device(HPU):
        x = tf.constant(MATRIX)
        for _ in range(5):
            with pytest.raises(tf.errors.InvalidArgumentError):
                step(x)
