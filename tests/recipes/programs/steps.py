"""`steps.py COUNT CODE`: runs COUNT steps with two shapes, and exits with CODE. For `hpu warmup`."""

from __future__ import annotations

import sys
import time

import habana_frameworks.tensorflow as htf

htf.load_habana_module()
import tensorflow as tf  # noqa: E402


@tf.function
def step(x: tf.Tensor) -> tf.Tensor:
    return tf.reduce_sum(x * 2.0)


for i in range(int(sys.argv[1])):
    step(tf.constant([1.0] * (3 + (i > 2))))
    time.sleep(0.02)
print("the end")
sys.exit(int(sys.argv[2]))
