"""Program for test_memory_fill.py."""

from __future__ import annotations

import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module


def compute() -> None:
    load_habana_module()
    step = tf.function(lambda x: tf.reduce_sum(tf.matmul(tf.matmul(x, x), x)), jit_compile=True)
    with tf.device("HPU:0"):
        print([float(step(tf.eye(64))) for _ in range(3)])
