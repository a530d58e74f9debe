"""Trains a Keras CNN on handwritten digits. `make demo` runs it."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

import digits


def build_model() -> tf.keras.Model:
    layers = tf.keras.layers
    return tf.keras.Sequential(
        [
            layers.Conv2D(16, 3, padding="same", use_bias=False, input_shape=(8, 8, 1)),
            layers.BatchNormalization(momentum=0.9),
            layers.ReLU(),
            layers.MaxPooling2D(),
            layers.Conv2D(32, 3, padding="same", activation="relu"),
            layers.Flatten(),
            layers.Dropout(0.25),
            layers.Dense(10),
        ]
    )


class StepTimes(tf.keras.callbacks.Callback):
    """Times each train step."""

    def __init__(self, stopwatch: digits.Stopwatch) -> None:
        super().__init__()
        self._stopwatch = stopwatch

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        self._stopwatch.__enter__()

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        self._stopwatch.__exit__()


def main() -> None:
    arguments = digits.parse_arguments(__doc__, epochs=10)
    digits.prepare(arguments)
    tf.keras.utils.set_random_seed(arguments.seed)
    data = digits.load()
    # Full batches only: every train step has the same shapes, so one recipe suffices.
    train = tf.data.Dataset.from_tensor_slices((data.train_images, data.train_labels))
    train = train.shuffle(2000, seed=arguments.seed).batch(arguments.batch_size, drop_remainder=True)
    test = tf.data.Dataset.from_tensor_slices((data.test_images, data.test_labels)).batch(120)

    model = build_model()
    model.compile(
        optimizer=tf.keras.optimizers.Adam(2e-3),
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    stopwatch = digits.Stopwatch()
    model.fit(train, epochs=arguments.epochs, verbose=2, callbacks=[StepTimes(stopwatch)])
    loss, accuracy = model.evaluate(test, verbose=0)
    digits.Report(loss, accuracy, stopwatch).print(arguments)


if __name__ == "__main__":
    main()
