"""Programs of changing sizes for test_notes.py."""

from __future__ import annotations

import json
from collections.abc import Iterable

import numpy as np
import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module, statistics
from habana_frameworks.tensorflow._internal.native import c_api, plugin_library

load_habana_module()


class Model:
    """A train step whose batch may have any size."""

    def __init__(self) -> None:
        self.weights = tf.Variable(np.linspace(-1, 1, 64, dtype=np.float32).reshape([16, 4]))

    @tf.function(input_signature=[tf.TensorSpec([None, 16]), tf.TensorSpec([None, 4])])
    def train(self, x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.nn.softmax(x @ self.weights) - y) ** 2)
        self.weights.assign_sub(tape.gradient(loss, self.weights))
        return loss


def losses(sizes: Iterable[int], model: Model | None = None) -> list[float]:
    model = model or Model()
    values = np.random.RandomState(1)
    found = []
    for size in sizes:
        x, y = (values.normal(size=[size, width]).astype(np.float32) for width in (16, 4))
        found.append(float(model.train(tf.constant(x), tf.constant(y))))
    return found


def counters() -> statistics.Cluster:
    (cluster,) = (cluster for cluster in statistics.clusters() if "train" in cluster.name)
    return cluster


def train(sizes: list[int]) -> None:
    """Prints the losses and the counters as JSON."""
    found = losses(sizes)
    cluster, counts = counters(), statistics.recipes()
    print(
        json.dumps(
            {
                "losses": found,
                "compiled": counts.compiled,
                "disk_hits": counts.disk_hits,
                "padded": cluster.padded_launches,
                "launches": cluster.launches,
                "reasons": dict(cluster.fallback_reasons),
            }
        )
    )


def train_on_cpu(sizes: list[int]) -> None:
    with tf.device("/CPU:0"):
        print(json.dumps(losses(sizes)))


def keep(sizes: list[int]) -> None:
    """Begins again and again, as processes with common notes do, until a bounded recipe is compiled and used."""
    flush = c_api.function(plugin_library.handle(), "hpu_recipe_cache_flush")
    turns = 0
    while turns == 0 or "compiling" not in counters().fallback_reasons:
        model = Model()
        losses(sizes, model)
        flush()
        turns += 1
    while not counters().padded_launches:
        losses(sizes, model)
    print(json.dumps({"turns": turns}))


def use_many(sizes: int, every: int) -> None:
    """Compiles a recipe for each size, and uses the first one now and then. Prints counters of the last launches."""

    @tf.function(input_signature=[tf.TensorSpec([None])])
    def doubled(x: tf.Tensor) -> tf.Tensor:
        return x + x

    def compiled(size: int) -> int:
        before = statistics.recipes()
        doubled(tf.zeros([size]))
        after = statistics.recipes()
        return after.compiled + after.memory_hits - before.compiled - before.memory_hits

    doubled(tf.zeros([2]))
    for size in range(3, sizes):
        doubled(tf.zeros([size]))
        if size % every == 0:
            assert compiled(2) == 0, size
    report = c_api.read_message(plugin_library.handle(), "hpu_recipe_buffers", "RecipeBuffers")
    print(json.dumps({"kept": len(report.recipes), "often": compiled(2), "long ago": compiled(3)}))
