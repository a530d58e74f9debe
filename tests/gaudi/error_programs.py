"""Programs for test_errors.py."""

from __future__ import annotations

import sys

import tensorflow as tf

from habana_frameworks.tensorflow import errors, load_habana_module


def compute() -> None:
    """Computes on the HPU until an error, which it prints; then prints a result of the CPU."""

    @tf.function
    def step(x: tf.Tensor) -> tf.Tensor:
        return tf.reduce_sum(tf.tanh(x) @ x)

    try:
        load_habana_module()
        with tf.device("/device:HPU:0"):
            x = tf.ones([64, 64])
            for _ in range(4):
                step(x).numpy()
    except (errors.HabanaModuleError, tf.errors.OpError) as error:
        print(f"{type(error).__name__}: {error}")
    with tf.device("/device:CPU:0"):
        print(f"CPU computes {float(tf.constant(1.0) + 2.0)}")


def hold() -> None:
    """Holds a card until standard input ends."""
    load_habana_module()
    with tf.device("/device:HPU:0"):
        print(float(tf.reduce_sum(tf.ones([4]))), flush=True)
    sys.stdin.read()
