"""Program for test_report.py: trains on a tf.data pipeline, with an op on the CPU, and prints its own statistics."""

from __future__ import annotations

import dataclasses
import json
import sys

import tensorflow as tf

from habana_frameworks.tensorflow import habana_device, statistics

STEPS = 12
weights = tf.Variable(tf.ones([32, 32]))


def on_cpu(x: tf.Tensor) -> tf.Tensor:
    with tf.device("/CPU:0"):
        return tf.exp(x, name="on_cpu")  # the exception


@tf.function
def step(x: tf.Tensor) -> tf.Tensor:
    y = tf.matmul(x, weights) * 0.01
    z = tf.tanh(on_cpu(y))
    weights.assign_add(tf.matmul(x, z, transpose_a=True) * 1e-3)
    return tf.reduce_sum(z)


def main() -> None:
    assert sys.argv[1:] == ["--name", "<b>"]
    for batch in tf.data.Dataset.from_tensors(tf.ones([8, 32])).repeat(STEPS):
        step(batch).numpy()
    figures = {
        "clusters": {cluster.name: cluster.launches for cluster in statistics.get().launched_clusters},
        "compiled": statistics.recipes().compiled,
        "compile_seconds": statistics.get().compile_seconds,
        "memory": dataclasses.asdict(habana_device.memory_info()),
    }
    sys.stdout.write(json.dumps(figures) + "\n")


main()
