"""Programs for test_progress.py, whose recipes take long to compile."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence

import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module, statistics


@tf.function(input_signature=[tf.TensorSpec([None, None])])
def slow(x: tf.Tensor) -> tf.Tensor:
    return tf.nn.softmax(tf.tanh(x) @ x)


def compile_slowly(sizes: Sequence[int]) -> None:
    load_habana_module()
    for size in sizes:
        with tf.device("/device:HPU:0"):
            slow(tf.ones([size, size]))


def compile_in_background(sizes: Sequence[int]) -> None:
    load_habana_module()
    os.environ["HPU_COMPILE_MODE"] = "async"
    compile_slowly(sizes)
    end = time.monotonic() + 120
    while sum(cluster.recipes for cluster in statistics.clusters()) < len(sizes) and time.monotonic() < end:
        time.sleep(0.1)
