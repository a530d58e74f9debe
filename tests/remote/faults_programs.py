"""Program for test_faults.py."""

from __future__ import annotations

import time

import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module, statistics


def train(steps: int) -> None:
    """Prints the numbers of the failed steps, and class and text of each error."""
    load_habana_module()
    failed = []

    @tf.function
    def step(x: tf.Tensor) -> tf.Tensor:
        return tf.reduce_sum(tf.nn.softmax(x @ x))

    begin = time.monotonic()
    for number in range(1, 1 + steps):
        try:
            with tf.device("HPU:0"):
                assert abs(float(step(tf.ones([8, 8]))) - 8) < 1e-4
        except tf.errors.OpError as error:
            failed.append(number)
            print(type(error).__name__, error.message)
            if isinstance(error, tf.errors.UnavailableError):
                break  # the server has ended
    print(f"failed: {failed}")
    print(f"seconds: {time.monotonic() - begin}")
    print(f"fallbacks: {statistics.get().fallbacks}")
