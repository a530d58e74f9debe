"""Model.compile(jit_compile=True) on the HPU: the model trains, and Keras does not warn that XLA is missing."""

from __future__ import annotations

import logging

import numpy as np
import pytest
import tensorflow as tf

from habana_frameworks.tensorflow import statistics
from tests.support.clusters import assert_one_cluster, report_of
from tests.support.compare import CPU, HPU

pytestmark = pytest.mark.usefixtures("hpu")


def test_a_model_trains_without_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
    with caplog.at_level(logging.INFO):
        model.compile("sgd", "mse", jit_compile=True)
        model.fit(tf.zeros([4, 2]), tf.zeros([4, 1]), verbose=0)
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []
    assert "jit_compile=True has no effect on models" in caplog.text
    assert report_of("train_function").clusters


def test_grouped_convolutions_are_in_the_cluster_of_the_step() -> None:
    """Keras calls a grouped convolution in a function with jit_compile=True."""
    layers = tf.keras.layers
    x = np.random.default_rng(0).standard_normal((8, 8, 8, 4)).astype(np.float32)
    losses, weights = {}, None
    statistics.reset()
    for device in (HPU, CPU):
        with tf.device(device):
            model = tf.keras.Sequential(
                [
                    layers.Conv2D(8, 3, groups=4, activation="relu", input_shape=x.shape[1:]),
                    layers.Conv2D(8, 3, groups=2),
                    layers.GlobalAveragePooling2D(),
                    layers.Dense(3),
                ]
            )
            weights = weights or model.get_weights()
            model.set_weights(weights)
            model.compile("sgd", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
            losses[device] = model.fit(x, np.arange(8) % 3, batch_size=4, epochs=2, shuffle=False, verbose=0)
        if device == HPU:
            assert_one_cluster("train_function", launches=4)
    np.testing.assert_allclose(losses[HPU].history["loss"], losses[CPU].history["loss"], rtol=1e-5)
