"""Programs with loops for test_loops.py."""

from __future__ import annotations

import json

import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module, statistics


@tf.function(autograph=False)
def doublings(x: tf.Tensor, bound: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Doubles x until its sum reaches the bound. Returns x and the number of iterations."""

    def goes_on(x: tf.Tensor, count: tf.Tensor) -> tf.Tensor:
        return tf.reduce_sum(x) < bound

    def double(x: tf.Tensor, count: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        return x + x, count + 1.0

    x, count = tf.while_loop(goes_on, double, (x * 1.5, tf.constant(0.0)))
    return x - 1.0, count


@tf.function(autograph=False)
def nested(x: tf.Tensor, bound: tf.Tensor) -> tf.Tensor:
    """A loop of unknown length in another such loop."""

    def outer(x: tf.Tensor) -> tuple[tf.Tensor]:
        (grown,) = tf.while_loop(lambda y: tf.reduce_max(y) < bound, lambda y: (y * 1.5,), (x,))
        return (x + 0.25 * grown / bound,)

    (x,) = tf.while_loop(lambda x: tf.reduce_max(x) < 4.0, outer, (x,))
    return x


@tf.function
def embedding_step(table: tf.Variable, rows: tf.Tensor, targets: tf.Tensor) -> tf.Tensor:
    """A train step that adds up the gradients of equal rows. tf.unique finds the rows in a loop."""
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.gather(table, rows) - targets))
    gradient = tape.gradient(loss, table)
    unique, positions = tf.unique(gradient.indices)
    summed = tf.math.unsorted_segment_sum(gradient.values, positions, tf.shape(unique)[0])
    table.scatter_sub(tf.IndexedSlices(0.5 * summed, unique))
    return loss


def run() -> None:
    """Prints the results of the programs, and the number of clusters that ran on the CPU, as JSON."""
    load_habana_module()
    results = {}
    with tf.device("/device:HPU:0"):
        x = tf.constant([[0.25, 0.5, 1.0], [0.75, 0.125, 0.5]])
        for bound in (1.0, 100.0, 1e4):
            grown, count = doublings(x, tf.constant(bound))
            results[f"doublings {bound}"] = [grown.numpy().tolist(), float(count)]
        results["nested"] = nested(x, tf.constant(20.0)).numpy().tolist()
        table = tf.Variable(tf.reshape(tf.range(64.0 * 4), [64, 4]) / 100.0)
        rows = tf.constant([3, 9, 3, 60, 9, 3, 0, 17] * 8, tf.int64)
        losses = [float(embedding_step(table, rows, tf.ones([64, 4]))) for _ in range(3)]
        results["embedding"] = [losses, table.numpy().tolist()]
    print(json.dumps({"results": results, "fallbacks": statistics.get().fallbacks}))
