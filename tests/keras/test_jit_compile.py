"""Model.compile(jit_compile=…) on the HPU: True causes no warning, "auto" leaves the step to the graph passes."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from habana_frameworks.tensorflow import statistics
from tests.support.clusters import assert_one_cluster, report_of
from tests.support.compare import CPU, HPU
from tests.support.keras_package import IS_KERAS_2, TRAIN_FUNCTION, keras_3_only

pytestmark = pytest.mark.usefixtures("hpu")


def trained(**options: Any) -> Any:
    model = tf.keras.Sequential([tf.keras.layers.Input([2]), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse", **options)
    model.fit(tf.zeros([4, 2]), tf.zeros([4, 1]), verbose=0)
    return model


def test_a_model_trains_without_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        trained(jit_compile=True)
    warned = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    assert [message for message in warned if "XLA" in message or "jit_compile" in message] == []
    assert ("jit_compile=True has no effect on models" in caplog.text) == IS_KERAS_2
    assert report_of(TRAIN_FUNCTION).clusters


@keras_3_only
def test_the_graph_passes_compile_a_model_unless_it_says_jit_compile() -> None:
    assert [trained(**options).jit_compile for options in ({}, {"jit_compile": "auto"})] == [False, False]
    assert trained(jit_compile=True).jit_compile
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.predict(tf.zeros([4, 2]), verbose=0)
    assert not model.jit_compile, "a model that was not compiled"


def test_a_step_may_hold_an_op_that_does_not_compile() -> None:
    class Length(tf.keras.layers.Layer):  # type: ignore[misc,name-defined]
        def call(self, x: tf.Tensor) -> tf.Tensor:
            return x * tf.cast(tf.strings.length(tf.strings.as_string(x)), x.dtype)

    model = tf.keras.Sequential([tf.keras.layers.Dense(3), Length(), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    assert np.isfinite(model.fit(tf.ones([4, 2]), tf.zeros([4, 1]), verbose=0).history["loss"]).all()
    assert report_of(TRAIN_FUNCTION).clusters and statistics.get().fallbacks == 0


def test_grouped_convolutions_are_in_the_cluster_of_the_step() -> None:
    """Keras 2 calls a grouped convolution in a function with jit_compile=True."""
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
            assert_one_cluster(TRAIN_FUNCTION, launches=4)
    np.testing.assert_allclose(losses[HPU].history["loss"], losses[CPU].history["loss"], rtol=1e-5)
