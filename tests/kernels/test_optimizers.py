"""Optimizer ops without tf2xla lowering, compared with TensorFlow's CPU kernels."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from tests.support.clusters import assert_one_cluster
from tests.support.compare import CPU, HPU

STEPS = 4


def train(device: str) -> np.ndarray:
    generator = np.random.default_rng(1)
    with tf.device(device):
        weights = tf.Variable(generator.normal(size=5).astype(np.float32))
        optimizer = tf.keras.optimizers.legacy.Adam(0.1, amsgrad=True)

        @tf.function
        def amsgrad_step(gradient: tf.Tensor) -> None:
            optimizer.apply_gradients([(gradient, weights)])

        for _ in range(STEPS):
            amsgrad_step(tf.constant(generator.normal(size=5).astype(np.float32)))
        return weights.numpy()


@pytest.mark.usefixtures("hpu")
def test_adam_with_amsgrad_is_one_cluster() -> None:
    np.testing.assert_allclose(train(HPU), train(CPU), rtol=1e-5)
    assert_one_cluster("amsgrad_step", STEPS)
