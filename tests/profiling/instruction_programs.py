"""Program for test_instructions.py, which runs it with and without timed recipes."""

from __future__ import annotations

import json
import pathlib

import numpy as np
import tensorflow as tf


def train_and_loop() -> None:
    """Profiles a train step by TensorFlow's profiler, and a loop to loop.json. Writes the step's loss to loss.json."""
    from habana_frameworks.tensorflow import device_trace, load_habana_module

    load_habana_module()
    tf.keras.utils.set_random_seed(1)
    layers = [tf.keras.layers.Conv2D(8, 3, activation="relu"), tf.keras.layers.Flatten(), tf.keras.layers.Dense(10)]
    model = tf.keras.Sequential(layers, name="digits")
    model.compile("sgd", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    x, y = np.linspace(0, 1, 32 * 16 * 16, dtype="f").reshape(32, 16, 16, 1), np.arange(32) % 10
    model.train_on_batch(x, y)
    tf.profiler.experimental.start(".")
    loss = model.train_on_batch(x, y)
    tf.profiler.experimental.stop()
    pathlib.Path("loss.json").write_text(json.dumps(float(loss)))

    @tf.function
    def looped(x: tf.Tensor) -> tf.Tensor:
        return tf.while_loop(lambda i, _: i < 5, lambda i, y: (i + 1, tf.tanh(tf.matmul(y, y))), (0, x))[1]

    looped(tf.ones([32, 32])).numpy()
    with device_trace.record("loop.json"):
        looped(tf.ones([32, 32])).numpy()
