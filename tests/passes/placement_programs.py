"""Programs for test_placement.py."""

from __future__ import annotations

import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module


def products() -> None:
    load_habana_module()
    for _ in range(3):
        tf.function(lambda x: tf.matmul(x, x))(tf.ones([2, 2]))
    assert tf.matmul(tf.ones([2, 2]), tf.ones([2, 2])).device.endswith("CPU:0")


def unknown_op() -> None:
    load_habana_module()
    for _ in range(3):
        tf.function(lambda x: tf.math.erfinv(x) + tf.math.ndtri(x) + tf.tanh(x))(tf.zeros([2, 2]))
    tf.math.lgamma(tf.ones([2]))
