"""Recurrent layers behind layers at which shape inference loses sizes: the train step stays one cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from habana_frameworks.tensorflow import statistics
from tests.support.clusters import report_of
from tests.support.compare import CPU, HPU
from tests.support.keras_package import IS_KERAS_2, TRAIN_FUNCTION

pytestmark = pytest.mark.usefixtures("hpu")
layers = tf.keras.layers

# By name: the layers before the recurrent layer.
BEFORE: dict[str, Callable[[], list[tf.keras.layers.Layer]]] = {
    "dense": lambda: [layers.Dense(5)],
    "dense_dense": lambda: [layers.Dense(5, "relu"), layers.Dense(4)],
    "time_distributed": lambda: [layers.TimeDistributed(layers.Dense(5))],
    "dense_lstm": lambda: [layers.Dense(5), layers.LSTM(4, return_sequences=True), layers.Dense(3)],
    "bidirectional": lambda: [layers.Dense(5), layers.Bidirectional(layers.GRU(3, return_sequences=True))],
}


@pytest.fixture(autouse=True)
def own_counters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF_CPU_RUNTIME_FALLBACK", "forbid")
    statistics.reset()


def losses(make: Callable[[], tf.keras.Model], data: tf.data.Dataset) -> dict[str, list[float]]:
    """Trains the model on both devices from the same weights."""
    found, weights = {}, None
    for device in (CPU, HPU):
        with tf.device(device):
            model = make()
        weights = weights or model.get_weights()
        model.set_weights(weights)
        with tf.device(device):
            found[device] = model.fit(data, epochs=2, shuffle=False, verbose=0).history["loss"]
    return found


def assert_one_train_cluster() -> None:
    clusters = report_of(TRAIN_FUNCTION).clusters
    assert len(clusters) == 1, [cluster.name for cluster in clusters]
    assert statistics.get().fallbacks == 0


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if name in ("bidirectional", "time_distributed") else ())
        for name in BEFORE
    ],
)
def test_layers_before_a_recurrent_layer(name: str) -> None:
    def make() -> tf.keras.Model:
        tf.keras.utils.set_random_seed(1)
        model = tf.keras.Sequential([layers.Input((6, 3)), *BEFORE[name](), layers.LSTM(4), layers.Dense(1)])
        model.compile("sgd", "mse")
        return model

    generator = np.random.default_rng(0)
    x, y = generator.standard_normal((10, 6, 3), dtype=np.float32), generator.standard_normal((10, 1))
    found = losses(make, tf.data.Dataset.from_tensor_slices((x, y.astype(np.float32))).batch(4))
    np.testing.assert_allclose(found[HPU], found[CPU], rtol=1e-5)
    assert_one_train_cluster()


class TextModel(tf.keras.Model):  # type: ignore[misc]
    """The model of TensorFlow's tutorial of text generation."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = layers.Embedding(7, 4)
        self.gru = layers.GRU(5, return_sequences=True, return_state=True)
        self.dense = layers.Dense(7)

    def call(self, inputs: tf.Tensor, states: Any = None, training: bool = False) -> tf.Tensor:
        x = self.embedding(inputs, training=training)
        if states is None:
            states = self.gru.get_initial_state(x if IS_KERAS_2 else tf.shape(x)[0])
        x, _ = self.gru(x, initial_state=states, training=training)
        return self.dense(x, training=training)


class TextModelWithOwnStep(TextModel):
    """The tutorial's model with a train step of its own."""

    @tf.function
    def train_step(self, data: tuple[tf.Tensor, tf.Tensor]) -> dict[str, tf.Tensor]:
        inputs, labels = data
        with tf.GradientTape() as tape:
            loss = self.loss(labels, self(inputs, training=True))
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        return {"loss": loss}


@pytest.mark.parametrize("kind", [TextModel, TextModelWithOwnStep])
def test_a_model_of_text(kind: type[TextModel]) -> None:
    ids = np.random.default_rng(0).integers(0, 7, (9, 7))
    data = tf.data.Dataset.from_tensor_slices((ids[:, :-1], ids[:, 1:])).batch(3, drop_remainder=True)

    def make() -> tf.keras.Model:
        tf.keras.utils.set_random_seed(1)
        model = kind()
        model(ids[:3, :-1])
        model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
        return model

    found = losses(make, data)
    np.testing.assert_allclose(found[HPU], found[CPU], rtol=1e-5)
    assert_one_train_cluster()
