"""Prints results of ops whose CPU kernels do not write the whole result, for test_unwritten_memory.py."""

from __future__ import annotations

import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module

CALLS = 4
"""Enough that the first calls run the CPU kernel and the last ones compiled code."""


def call(indefinite: tf.Tensor, image: tf.Tensor, window: tf.Tensor, nothing: tf.Tensor) -> tuple[tf.Tensor, ...]:
    upper = tf.boolean_mask(tf.linalg.cholesky(indefinite), [[0, 1, 1], [0, 0, 1], [0, 0, 0]])
    beyond = tf.raw_ops.DepthwiseConv2dNative(
        input=image, filter=window, strides=[1, 1, 1, 1], padding="SAME", dilations=[1, 4, 4, 1]
    )
    of_nothing = tf.raw_ops.Conv2DBackpropFilter(
        input=tf.ones([2, 4, 4, 1]), filter_sizes=[2, 2, 1, 1], out_backprop=nothing,
        strides=[1, 1, 2, 1], padding="VALID", dilations=[1, 1, 4, 1],
    )  # fmt: skip
    return upper, beyond, of_nothing


def main() -> None:
    load_habana_module()
    arguments = -tf.eye(3), tf.ones([1, 2, 2, 1]), tf.ones([2, 2, 1, 1]), tf.ones([2, 3, 0, 1])
    for function in (call, tf.function(call)):
        for _ in range(CALLS):
            print(*(result.numpy().ravel().tolist() for result in function(*arguments)))


if __name__ == "__main__":
    main()
