"""Program of test_threads.py."""

from __future__ import annotations

import threading

import tensorflow as tf

from habana_frameworks.tensorflow import device_trace, load_habana_module

CALLS = 4


def call_from_threads(path: str) -> None:
    """Calls a function from several threads at the same time, and writes a trace."""
    load_habana_module()
    x = tf.random.stateless_normal([512, 512], (1, 2))

    @tf.function
    def products(x: tf.Tensor) -> tf.Tensor:
        y = x
        for _ in range(16):
            y = tf.matmul(y, x) * 0.01
        return tf.reduce_sum(y)

    products(x)
    together = threading.Barrier(CALLS)

    def call() -> None:
        together.wait()
        products(x).numpy()

    threads = [threading.Thread(target=call) for _ in range(CALLS)]
    with device_trace.record(path):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
