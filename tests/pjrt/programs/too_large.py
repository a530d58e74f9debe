"""Steps without jit_compile for `hpu compile-check`: the first fits a card, the second's temporaries exceed it.

The third fits the card by itself, but not beside an array of 40 GB.
"""

from __future__ import annotations

import resource

import tensorflow as tf

# The products of two matrices with these sides need 90 GB and 26 GB of temporaries.
SIDE = 150_000
SMALL_SIDE = 80_000


@tf.function
def fitting(x: tf.Tensor) -> tf.Tensor:
    return tf.reduce_sum(tf.sqrt(x * x) + x)


@tf.function
def exceeding(x: tf.Tensor) -> tf.Tensor:
    square = tf.tensordot(x, x, axes=0)
    return tf.reduce_sum(tf.matmul(square, square))


@tf.function
def beside(x: tf.Tensor) -> tf.Tensor:
    square = tf.tensordot(x, x, axes=0)
    return tf.reduce_sum(tf.matmul(square, square))


@tf.function(jit_compile=True)
def hold(x: tf.Tensor) -> tf.Tensor:
    return tf.fill([10_000_000_000], x)


def attempt(function: tf.types.experimental.GenericFunction, size: int) -> None:
    try:
        function(tf.ones([size])).numpy()
    except tf.errors.OpError as error:
        print(f"{function.__name__}: {type(error).__name__}: {' '.join(error.message.split())}")
    else:
        print(f"{function.__name__}: ran")


# Less than the temporaries, which the CPU's kernels would allocate.
resource.setrlimit(resource.RLIMIT_DATA, (24 << 30, 24 << 30))
attempt(fitting, 4)
attempt(exceeding, SIDE)
with tf.device("/device:HPU:0"):
    held = hold(tf.constant(1.0))
attempt(beside, SMALL_SIDE)
attempt(fitting, 8)
