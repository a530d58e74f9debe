"""Program for test_random.py."""

from __future__ import annotations

import hashlib

import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module


def draws(seed: int | None) -> None:
    """Prints a digest of each draw."""
    load_habana_module()
    if seed is not None:
        tf.keras.utils.set_random_seed(seed)

    @tf.function
    def draw() -> tf.Tensor:
        return tf.random.normal([100]) + tf.nn.dropout(tf.ones([100]), 0.5)

    with tf.device("/HPU:0"):
        eager = tf.random.uniform([100])
        kernel = tf.keras.layers.Dense(7)(tf.ones([1, 5]))
        for tensor in (eager, draw(), kernel):
            print(hashlib.sha256(tensor.numpy().tobytes()).hexdigest())
