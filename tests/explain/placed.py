"""Program for test_placed.py. The test's settings keep ops off the HPU and split clusters."""

from __future__ import annotations

import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module

load_habana_module()
counter = tf.Variable(tf.ones([4, 4]))


@tf.function
def placed(x: tf.Tensor) -> tf.Tensor:
    listed = tf.tanh(x * 2.0, name="listed")
    unlisted = tf.math.lgamma(listed + 3.0, name="unlisted")
    typed = tf.cast(tf.acos(tf.cast(x * 0.1, tf.bfloat16), name="typed"), tf.float32)
    deep = tf.abs(tf.reshape(x, [1, 1, 1, 1, 4, 4]), name="deep")
    return tf.reduce_sum(unlisted + typed) + tf.reduce_sum(deep)


@tf.function
def updated(x: tf.Tensor) -> tf.Tensor:
    before = tf.nn.relu(counter * x) * 2.0
    counter.assign_add(before * 0.5)
    return tf.reduce_sum(tf.nn.relu(counter * x) * 3.0)


@tf.function
def long(x: tf.Tensor) -> tf.Tensor:
    for _ in range(12):
        x = tf.nn.relu(tf.matmul(x, x)) * 0.5
    return x


@tf.function
def branching(x: tf.Tensor) -> tf.Tensor:
    y = tf.nn.relu(x) * 2.0
    if tf.reduce_sum(x) > 0.0:
        tf.print("positive", output_stream="file:///dev/null")
        y = tf.nn.relu(y) * 3.0
    return y + 1.0


@tf.function
def joined(y: tf.Tensor, x: tf.Tensor) -> tf.Tensor:
    """The graph's first op belongs to the cluster that runs last."""
    late = tf.nn.relu(y) * 3.0
    early = tf.nn.relu(x) * 2.0
    return late + tf.tanh(early, name="outside")


@tf.function(jit_compile=True)
def compiled(x: tf.Tensor) -> tf.Tensor:
    return tf.nn.relu(x) * 2.0


@tf.function
def around(x: tf.Tensor) -> tf.Tensor:
    """A cluster with jit_compile=True lies between two others."""
    before = tf.nn.relu(x) * 3.0
    with tf.xla.experimental.jit_scope(compile_ops=False):
        alone = compiled(before)
    return tf.nn.relu(before + alone) * 5.0


@tf.function
def crossed(x: tf.Tensor, y: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """`first` and `last` share no path, but each has one with ops of the cluster in the middle."""
    first = tf.nn.relu(x) * 3.0
    middle = tf.tanh(first, name="after_first") * 5.0
    last = tf.tanh(tf.tanh(y, name="before_middle") * 2.0, name="before_last") * 7.0
    return middle, last + first


if __name__ == "__main__":
    ones = tf.ones([4, 4])
    placed(ones)
    updated(ones)
    long(ones)
    branching(ones)
    joined(ones, ones)
    around(ones)
    crossed(ones, ones)
