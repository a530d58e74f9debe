"""Programs after the guides of TensorFlow and Keras. Each returns the losses of its steps."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence

import numpy as np
import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module, statistics

BATCH, BATCHES, CLASSES, WORDS, LENGTH = 16, 4, 5, 50, 12
_GENERATOR = np.random.default_rng(0)
_COUNT = BATCH * BATCHES
IMAGES = _GENERATOR.random((_COUNT, 16, 16, 3), dtype=np.float32)
ROWS = _GENERATOR.random((_COUNT, 16), dtype=np.float32)
TEXTS = _GENERATOR.integers(0, WORDS, (_COUNT, LENGTH))
LABELS = _GENERATOR.integers(0, CLASSES, _COUNT)
layers = tf.keras.layers


def _fit(model: tf.keras.Model, x: np.ndarray, metrics: Sequence[str] = ("accuracy",)) -> list[float]:
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(tf.keras.optimizers.Adam(0.01), loss, metrics=list(metrics) or None)
    history = model.fit(x, LABELS, batch_size=BATCH, epochs=3, shuffle=False, verbose=0)
    return [float(loss) for loss in history.history["loss"]]


def image_classification() -> list[float]:
    model = tf.keras.Sequential(
        [
            layers.Rescaling(2.0),
            layers.Conv2D(8, 3, activation="relu"),
            layers.BatchNormalization(),
            layers.MaxPooling2D(),
            layers.Dropout(0.0),
            layers.Flatten(),
            layers.Dense(CLASSES),
        ]
    )
    return _fit(model, IMAGES)


def text_classification() -> list[float]:
    model = tf.keras.Sequential(
        [
            layers.Embedding(WORDS, 8, mask_zero=True),
            layers.Bidirectional(layers.LSTM(8)),
            layers.Dense(16, activation="relu"),
            layers.Dense(CLASSES),
        ]
    )
    return _fit(model, TEXTS)


def text_of_any_length() -> list[float]:
    inputs = tf.keras.Input((None,), dtype="int64")
    x = layers.GRU(8, return_sequences=True)(layers.Embedding(WORDS, 8, mask_zero=True)(inputs))
    return _fit(tf.keras.Model(inputs, layers.Dense(CLASSES)(layers.GRU(8)(x))), TEXTS)


def transformer() -> list[float]:
    inputs = tf.keras.Input((LENGTH,), dtype="int64")
    x = layers.Embedding(WORDS, 16)(inputs)
    x = layers.LayerNormalization()(x + layers.MultiHeadAttention(2, 8)(x, x))
    x = layers.LayerNormalization()(x + layers.Dense(16, activation="gelu")(x))
    return _fit(tf.keras.Model(inputs, layers.Dense(CLASSES)(layers.GlobalAveragePooling1D()(x))), TEXTS)


def custom_train_step() -> list[float]:
    class Model(tf.keras.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.dense = layers.Dense(CLASSES)

        def call(self, x: tf.Tensor, training: bool = False) -> tf.Tensor:
            return self.dense(x)

        def train_step(self, data: tuple[tf.Tensor, tf.Tensor]) -> dict[str, tf.Tensor]:
            x, y = data
            with tf.GradientTape() as tape:
                loss = self.compute_loss(y=y, y_pred=self(x, training=True))
            variables = self.trainable_variables
            self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
            return {"loss": loss}

    return _fit(Model(), ROWS, metrics=())


def custom_loop() -> list[float]:
    model = tf.keras.Sequential([layers.Dense(32, activation="relu"), layers.Dense(CLASSES)])
    model.build((None, ROWS.shape[1]))
    optimizer = tf.keras.optimizers.Adam(0.01)
    loss_of = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    accuracy = tf.keras.metrics.SparseCategoricalAccuracy()

    @tf.function
    def train(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            logits = model(x, training=True)
            loss = loss_of(y, logits)
        weights = model.trainable_weights
        optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
        accuracy.update_state(y, logits)
        return loss

    batches = tf.data.Dataset.from_tensor_slices((ROWS, LABELS)).batch(BATCH)
    return [float(train(x, y)) for _ in range(3) for x, y in batches]


class _Regression(tf.Module):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        self.weights = tf.Variable(tf.zeros([ROWS.shape[1], CLASSES]))

    @tf.function(input_signature=[tf.TensorSpec([None, 16]), tf.TensorSpec([None], tf.int64)])
    def train(self, x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(y, x @ self.weights)
            loss = tf.reduce_mean(losses)
        self.weights.assign_sub(0.1 * tape.gradient(loss, self.weights))
        return loss


def saved_model() -> list[float]:
    """Saves a module with its train step, and trains what is loaded."""
    with tempfile.TemporaryDirectory() as directory:
        tf.saved_model.save(_Regression(), directory)
        loaded = tf.saved_model.load(directory)
    batches = tf.data.Dataset.from_tensor_slices((ROWS, LABELS)).batch(BATCH)
    return [float(loaded.train(x, y)) for _ in range(3) for x, y in batches]


PROGRAMS = (
    image_classification,
    text_classification,
    text_of_any_length,
    transformer,
    custom_train_step,
    custom_loop,
    saved_model,
)


def main(name: str) -> None:
    """Runs a program on the CPU and on the HPU. Each step on the HPU must be one launch of one cluster."""
    load_habana_module()
    (program,) = (program for program in PROGRAMS if program.__name__ == name)
    losses = {}
    for device in ("/device:CPU:0", "/device:HPU:0"):
        losses[device] = _losses(program, device)
    np.testing.assert_allclose(losses["/device:HPU:0"], losses["/device:CPU:0"], rtol=1e-3)
    launched = [cluster for cluster in statistics.get().clusters if cluster.launches]
    assert [cluster.launches for cluster in launched] == [3 * BATCHES], launched


def _losses(program: Callable[[], list[float]], device: str) -> list[float]:
    tf.keras.utils.set_random_seed(1)
    statistics.reset()
    with tf.device(device):
        return program()
