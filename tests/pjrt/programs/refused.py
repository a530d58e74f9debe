"""Functions for `hpu compile-check`: the first does not compile, the second exceeds a card's memory, the third fits."""

from __future__ import annotations

import tensorflow as tf
from tensorflow.compiler.tf2xla.ops import gen_xla_ops

# The product of two matrices of this size needs 90 GB of temporaries.
SIDE = 150_000


@tf.function(jit_compile=True)
def unknown(x: tf.Tensor) -> tf.Tensor:
    """Calls a function of this name in the compiler's process, which has none."""
    return gen_xla_ops.xla_custom_call(args=[x], target_name="abacus", backend_config="", dtype=tf.float32, shape=[4])


@tf.function(jit_compile=True)
def exceeding(x: tf.Tensor) -> tf.Tensor:
    square = tf.tensordot(x, x, axes=0)
    return tf.reduce_sum(tf.matmul(square, square))


@tf.function(jit_compile=True)
def fitting(x: tf.Tensor) -> tf.Tensor:
    return tf.reduce_sum(x * x)


for function, size in ((unknown, 4), (exceeding, SIDE), (fitting, 4)):
    try:
        function(tf.ones([size])).numpy()
    except tf.errors.OpError as error:
        print(f"{type(error).__name__} after {size} numbers")
