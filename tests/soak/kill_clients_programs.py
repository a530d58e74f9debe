"""Client of kill_clients.py."""

from __future__ import annotations

import sys
import threading

import numpy as np
import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module, statistics


def compute_and_check(seed: int) -> None:
    """Prints "ready" after the first correct result, and continues until its input ends."""
    load_habana_module()
    random = np.random.default_rng(seed)
    ended = threading.Event()

    def wait() -> None:
        sys.stdin.read()
        ended.set()

    @tf.function
    def step(total: tf.Variable, block: tf.Tensor) -> tf.Tensor:
        total.assign_add(tf.reduce_sum(block @ tf.transpose(block)))
        return total + 0.0

    with tf.device("HPU:0"):
        total = tf.Variable(0.0)
        count = 0
        while not ended.is_set():
            total.assign(0.0)
            size = int(random.choice([16, 64, 256]))
            blocks = [np.full([size, size], float(random.integers(1, 4)), np.float32) for _ in range(8)]
            for block in blocks:
                result = step(total, tf.constant(block))
            expected = sum(float(block[0, 0]) ** 2 * size**3 for block in blocks)
            assert float(result) == expected, (float(result), expected)
            large = random.random(int(random.integers(1, 1 << 20)), np.float32)
            assert np.array_equal(tf.identity(tf.constant(large)).numpy(), large)
            if count == 0:
                print("ready", flush=True)
                threading.Thread(target=wait, daemon=True).start()
            count += 1
    assert statistics.get().fallbacks == 0
