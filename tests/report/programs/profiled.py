"""Program for test_report.py that profiles itself, then trains until it is stopped."""

from __future__ import annotations

import sys

import tensorflow as tf


@tf.function
def step(x: tf.Tensor) -> tf.Tensor:
    return tf.reduce_sum(tf.tanh(tf.matmul(x, x)))


tf.profiler.experimental.start(sys.argv[1])
step(tf.ones([16, 16])).numpy()
tf.profiler.experimental.stop()
while True:
    step(tf.ones([16, 16])).numpy()
