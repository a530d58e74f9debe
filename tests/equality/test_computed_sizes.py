"""Sizes that a function computes: sizes without a compile-time value are known before compiling."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import tensorflow as tf

from habana_frameworks.tensorflow import statistics
from tests.support.clusters import report_of
from tests.support.compare import assert_same_on_hpu

pytestmark = pytest.mark.usefixtures("hpu")

EDGES = np.array([0, 0, 1, 2, 2, 2], np.int32)
X = np.array([1.0, 2.0, 3.0], np.float32)

# Sizes that tf2xla cannot evaluate from constant arguments.
UNKNOWN: dict[str, Callable[[tf.Tensor], tf.Tensor]] = {
    "bincount": lambda edges: tf.math.bincount(edges, minlength=3, maxlength=3)[2],
    "cumsum": lambda edges: tf.cumsum(edges)[3],
    "dot": lambda edges: tf.tensordot(edges, tf.ones_like(edges), 1),
    "loop": lambda edges: tf.while_loop(lambda i, _: i < edges[5], lambda i, n: (i + 1, n + 2), (0, 0))[1],
    "scatter": lambda edges: tf.scatter_nd(edges[:, tf.newaxis], tf.ones_like(edges), [3])[2],
    "segment_sum": lambda edges: tf.math.unsorted_segment_sum(tf.ones_like(edges), edges, 3)[2],
    "update": lambda edges: tf.tensor_scatter_nd_update(edges, [[0]], [3])[0],
}
# Sizes that tf2xla evaluates.
KNOWN: dict[str, Callable[[tf.Tensor], tf.Tensor]] = {
    "arithmetic": lambda edges: edges[3] * 2 - tf.math.floormod(edges[5], 3),
    "branch": lambda edges: tf.cond(edges[3] > 1, lambda: edges[3], lambda: edges[4]),
    "reduction": lambda edges: tf.reduce_max(edges) + tf.reduce_prod(edges[2:]),
    "packed": lambda edges: tf.concat([edges[:1], [4]], 0)[1],
}


@pytest.fixture(autouse=True)
def own_counters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF_CPU_RUNTIME_FALLBACK", "forbid")
    statistics.reset()


def assert_compiles(graph: str) -> None:
    """Checks that no cluster was split or ran on the CPU."""
    counts = statistics.get()
    assert counts.launched_clusters and counts.fallbacks == 0
    names = {cluster.name for cluster in report_of(graph).clusters}
    assert {cluster.name for cluster in counts.clusters if graph in cluster.name and cluster.launches} <= names


@pytest.mark.parametrize("in_call", [False, True], ids=["", "in a branch"])
@pytest.mark.parametrize("name", UNKNOWN)
def test_sizes_without_a_compile_time_value(name: str, in_call: bool) -> None:
    def sized(x: tf.Tensor, edges: tf.Tensor) -> tf.Tensor:
        return tf.reduce_sum(tf.tile(tf.exp(x), [UNKNOWN[name](edges)]) + 1.0)

    @tf.function
    def unknown_size(x: tf.Tensor, edges: tf.Tensor) -> tf.Tensor:
        y = tf.tanh(x) * 2.0
        if in_call:
            return tf.cond(tf.reduce_sum(x) > 0.0, lambda: sized(y, edges), lambda: tf.reduce_sum(y))
        return sized(y, edges)

    assert_same_on_hpu(unknown_size, X, EDGES)
    assert_compiles("unknown_size")


@pytest.mark.parametrize("name", KNOWN)
def test_sizes_with_a_compile_time_value_stay_in_the_cluster(name: str) -> None:
    @tf.function
    def known_size(x: tf.Tensor, edges: tf.Tensor) -> tf.Tensor:
        return tf.reduce_sum(tf.tile(tf.tanh(x) * 2.0, [KNOWN[name](edges)]) + 1.0)

    assert_same_on_hpu(known_size, X, EDGES)
    assert_compiles("known_size")
    assert len(report_of("known_size").clusters) == 1
    assert "changing-constant" not in {refusal.rule for refusal in report_of("known_size").refusals}


def test_rows_repeated_by_a_bincount() -> None:
    """A layer of a graph neural network, as in Keras' example of graph attention."""

    def train(x: tf.Tensor, edges: tf.Tensor) -> tuple[list[tf.Tensor], tf.Tensor]:
        w = tf.Variable(tf.ones([2, 2]))

        @tf.function
        def attention_step(x: tf.Tensor, edges: tf.Tensor) -> tf.Tensor:
            with tf.GradientTape() as tape:
                nodes = x @ w
                scores = tf.exp(tf.nn.leaky_relu(tf.reduce_sum(tf.gather(nodes, edges), -1)))
                sums = tf.math.unsorted_segment_sum(scores, edges, tf.shape(x)[0])
                weights = scores / tf.repeat(sums, tf.math.bincount(edges))
                loss = tf.reduce_mean(
                    tf.math.unsorted_segment_sum(
                        tf.gather(nodes, edges) * weights[:, tf.newaxis], edges, tf.shape(x)[0]
                    )
                )
            w.assign_sub(0.1 * tape.gradient(loss, w))
            return loss

        return [attention_step(x, order) for order in (edges, edges[:5], edges)], w.read_value()

    assert_same_on_hpu(train, np.arange(6, dtype=np.float32).reshape(3, 2) / 6, EDGES)
    assert statistics.get().fallbacks == 0
