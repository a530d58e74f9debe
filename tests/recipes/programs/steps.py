"""`steps.py COUNT CODE`: so many steps of two shapes, for `hpu warmup`, and an exit code."""

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
