"""Model.compile(jit_compile=True) on the HPU: the model trains, and Keras does not warn that XLA is missing."""

from __future__ import annotations

import logging

import pytest
import tensorflow as tf

from tests.support.clusters import report_of

pytestmark = pytest.mark.usefixtures("hpu")


def test_a_model_trains_without_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
    with caplog.at_level(logging.INFO):
        model.compile("sgd", "mse", jit_compile=True)
        model.fit(tf.zeros([4, 2]), tf.zeros([4, 1]), verbose=0)
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []
    assert "jit_compile=True has no effect on models" in caplog.text
    assert report_of("train_function").clusters
