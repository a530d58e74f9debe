"""Program whose graphs trigger rules of placement, marking and segmentation that need no settings.

placed.py triggers rules that depend on settings. This program prints "ran" on stdout.
"""

from __future__ import annotations

import sys

import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module

load_habana_module()
weights = tf.Variable(tf.fill([4, 4], 0.5))


@tf.function
def refused(x: tf.Tensor, name: tf.Tensor) -> tf.Tensor:
    y = tf.tanh(tf.matmul(x, weights)) * 2.0
    y = tf.debugging.check_numerics(y, "not finite", name="checked")
    if tf.reduce_sum(y) > 100.0:
        tf.print("large", output_stream="file:///dev/null")
    with tf.device("/device:CPU:0"):
        on_cpu = tf.exp(y, name="on_cpu")
    noise = tf.random.truncated_normal([4, 4], name="noise")
    python = tf.ensure_shape(tf.py_function(lambda a: a * 2.0, [y], tf.float32, name="python"), [4, 4])
    hashed = tf.cast(tf.strings.to_hash_bucket_fast(name, 10, name="hashed"), tf.float32)
    found = tf.reduce_sum(tf.cast(tf.where(y > 0, name="found"), tf.float32) @ tf.ones([2, 2]))
    total = tf.nn.relu(on_cpu + noise + python) * 0.1 + hashed + found
    sliced = tf.reshape(total, tf.cast(tf.stack([x[0, 0] * 2.0, x[0, 1] * 8.0]), tf.int32), name="data_shape")
    return tf.reduce_sum(tf.tanh(sliced) * 2.0)


@tf.function
def looping(x: tf.Tensor) -> tf.Tensor:
    steps = tf.constant(0)
    while tf.reduce_sum(x) < 100.0:
        tf.print("step", steps, output_stream="file:///dev/null")
        x = tf.tanh(x) * 3.0 + x
        steps += 1
    return x * 2.0 + 1.0


@tf.function
def nested(x: tf.Tensor) -> tf.Tensor:
    inner = tf.function(lambda a: tf.reduce_sum(tf.boolean_mask(a, a > 0.0)) * 2.0, jit_compile=True)
    return tf.exp(inner(tf.sin(x) * 3.0)) * 0.5


@tf.function
def clean(x: tf.Tensor) -> tf.Tensor:
    return tf.nn.relu(tf.matmul(x, weights)) * 2.0


if __name__ == "__main__":
    ones = tf.ones([4, 4])
    for _ in range(3):
        refused(ones, tf.constant("name"))
    looping(ones)
    nested(ones)
    clean(ones)
    sys.stdout.write("ran\n")
