"""Program for test_smi.py."""

from __future__ import annotations

import os
import sys
import threading

import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module


def compute_until_told() -> None:
    """Writes 64 MiB of device memory, and launches until its input ends."""
    load_habana_module()
    with tf.device("HPU:0"):
        block = tf.Variable(tf.ones([4096, 4096]))

        @tf.function
        def step() -> tf.Tensor:
            block.assign(block * 0.5 + 1.0)
            return tf.reduce_sum(block)

        step().numpy()
    print(os.getpid(), flush=True)
    ended = threading.Event()

    def wait() -> None:
        sys.stdin.read()
        ended.set()

    threading.Thread(target=wait, daemon=True).start()
    while not ended.is_set():
        step().numpy()
