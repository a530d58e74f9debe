"""Programs for test_shared_memory.py."""

from __future__ import annotations

import hashlib
import pathlib

import numpy as np
import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module


def copy() -> None:
    """Prints a digest of data copied to the device and back, and whether this process shares memory with another
    process.
    """
    load_habana_module()
    generator = np.random.default_rng(3)
    digest = hashlib.sha256()
    for size in (1, (16 << 10) - 1, 16 << 10, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, (40 << 20) + 3):
        sent = generator.integers(0, 256, size, dtype=np.uint8)
        with tf.device("HPU:0"):
            received = tf.identity(tf.constant(sent)).numpy()
        assert (sent == received).all(), size
        digest.update(received.tobytes())
    print(digest.hexdigest(), "memfd:hpu" in pathlib.Path("/proc/self/maps").read_text())


def copy_for_ever() -> None:
    load_habana_module()
    data = np.ones([64 << 20], np.uint8)
    while True:
        with tf.device("HPU:0"):
            tf.identity(tf.constant(data)).numpy()
        print("copied", flush=True)
