"""Program for test_switches.py."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module


def train_by_policy(policy: str) -> None:
    load_habana_module()
    tf.keras.mixed_precision.set_global_policy(policy)
    tf.keras.utils.set_random_seed(1)  # with some initial weights, the loss hardly decreases
    model = tf.keras.Sequential([tf.keras.layers.Dense(8, "relu", input_shape=(6,)), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    x = np.linspace(-1, 1, 96, dtype=np.float32).reshape(16, 6)
    losses = model.fit(x, x[:, :1], epochs=5, batch_size=16, verbose=0).history["loss"]
    assert losses[-1] < losses[0], losses
    assert all(weight.dtype == tf.float32 for weight in model.trainable_weights)
