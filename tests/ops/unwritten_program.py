"""Prints results of ops whose CPU kernels do not write the whole result, for test_unwritten_memory.py."""

from __future__ import annotations

import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module

CALLS = 4
"""Enough that the first calls run the CPU kernel and the last ones compiled code."""


def main() -> None:
    load_habana_module()
    indefinite = -tf.eye(3)
    image, window = tf.ones([1, 2, 2, 1]), tf.ones([2, 2, 1, 1])
    for _ in range(CALLS):
        upper = tf.boolean_mask(tf.linalg.cholesky(indefinite), [[0, 1, 1], [0, 0, 1], [0, 0, 0]])
        beyond = tf.raw_ops.DepthwiseConv2dNative(
            input=image, filter=window, strides=[1, 1, 1, 1], padding="SAME", dilations=[1, 4, 4, 1]
        )
        print(upper.numpy().tolist(), beyond.numpy().ravel().tolist())


if __name__ == "__main__":
    main()
