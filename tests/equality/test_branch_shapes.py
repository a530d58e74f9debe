"""Branches that return different shapes, and loops whose values change shape: only this node leaves its cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from habana_frameworks.tensorflow import statistics
from tests.support.clusters import report_of
from tests.support.compare import assert_same_on_hpu

pytestmark = pytest.mark.usefixtures("hpu")

X = np.random.default_rng(0).standard_normal((8, 4), dtype=np.float32)
LABELS = np.array(np.arange(8) % 3, np.int32)


@pytest.fixture(autouse=True)
def own_counters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF_CPU_RUNTIME_FALLBACK", "forbid")
    statistics.reset()


def squeezed(y: tf.Tensor) -> Any:
    return tf.cond(tf.equal(tf.shape(y)[-1], 1), lambda: tf.squeeze(y, -1), lambda: y)


def switched(y: tf.Tensor) -> Any:
    return tf.switch_case(
        tf.minimum(tf.shape(y)[-1] - 1, 2), [lambda: tf.squeeze(y, -1), lambda: y, lambda: tf.reduce_sum(y)]
    )


# In a function with jit_compile=True, tf2xla compiles both branches of tf.cond, on the CPU too.
@pytest.mark.parametrize(("choose", "jit_compile"), [(squeezed, None), (switched, None), (switched, True)])
@pytest.mark.parametrize("nested", [False, True], ids=["", "in a call"])
def test_shapes_choose_the_branch(choose: Callable[[tf.Tensor], Any], nested: bool, jit_compile: bool | None) -> None:
    function = tf.function(choose) if nested else choose

    def train(x: tf.Tensor, y: tf.Tensor) -> Any:
        w = tf.Variable(tf.ones([4, 3]))
        signature = [tf.TensorSpec([None, 4]), tf.TensorSpec([None, None], tf.int32)]

        @tf.function(input_signature=signature, jit_compile=jit_compile)
        def shaped_step(x: tf.Tensor, y: tf.Tensor) -> Any:
            with tf.GradientTape() as tape:
                logits = x @ w
                loss = tf.reduce_mean(
                    tf.nn.sparse_softmax_cross_entropy_with_logits(tf.reshape(y[:, :1], [-1]), logits)
                )
            w.assign_sub(0.1 * tape.gradient(loss, w))
            return loss, tf.reduce_sum(tf.cast(tf.equal(function(y), tf.argmax(x @ w, 1, tf.int32)), tf.float32))

        narrow = shaped_step(x, tf.reshape(y, [8, 1]))
        return narrow, shaped_step(x, tf.tile(tf.reshape(y, [8, 1]), [1, 8]))

    assert_same_on_hpu(train, X, LABELS)
    counts = statistics.get()
    assert counts.fallbacks == 0
    if not jit_compile:
        assert len(report_of("shaped_step").clusters) == 1


# TensorFlow infers no shapes through calls.
@pytest.mark.parametrize("calls", [0, 1, 2])
def test_data_choose_the_branch(calls: int) -> None:
    """The branch runs beside the clusters, which the step keeps."""
    first: Callable[[tf.Tensor], Any] = lambda y: tf.identity(y)[0]  # noqa: E731
    for _ in range(calls):
        first = tf.function(first, autograph=False)

    def train(x: tf.Tensor) -> Any:
        w = tf.Variable(tf.ones([4, 3]))

        @tf.function
        def chosen_step(x: tf.Tensor) -> Any:
            y = tf.nn.relu(x @ w) + 1.0
            w.assign_sub(0.1 * tf.matmul(x, y, transpose_a=True))
            picked = tf.cond(tf.reduce_sum(x) > 0.0, lambda: first(y), lambda: tf.reduce_sum(y))
            return tf.reduce_sum(tf.exp(-picked) + 1.0)

        return [chosen_step(value) for value in (x, -x, x)], w.read_value()

    assert_same_on_hpu(train, X)
    counts = statistics.get()
    assert counts.fallbacks == 0 and counts.launched_clusters
    assert any(r.op in ("If", "StatelessIf") and "different shapes" in r.reason for r in lowered("chosen_step"))


def lowered(graph: str) -> list[Any]:
    from habana_frameworks.tensorflow.explanation import passes

    reports = [report for report in passes.recent_reports() if graph in report.function]
    return [refusal for report in reports for refusal in report.refusals if refusal.rule == "lowered"]


@pytest.mark.parametrize("nested", [False, True], ids=["", "in a call"])
def test_sizes_that_differ_at_run_time(nested: bool) -> None:
    """No pass knows the sizes. Compiling fails, and the branch alone leaves the cluster."""

    def pick(x: tf.Tensor, n: tf.Tensor) -> Any:
        return tf.cond(tf.reduce_sum(x) > 0.0, lambda: x[: tf.shape(n)[0]] * 2.0, lambda: x)

    function = tf.function(pick) if nested else pick

    def train(x: tf.Tensor) -> Any:
        w = tf.Variable(tf.ones([4]))

        @tf.function(input_signature=[tf.TensorSpec([None, 4]), tf.TensorSpec([None])])
        def sized_step(x: tf.Tensor, n: tf.Tensor) -> Any:
            y = tf.nn.relu(x * w) + 1.0
            w.assign_sub(0.1 * tf.reduce_sum(y, 0))
            return tf.reduce_sum(tf.exp(function(x, n)) + 1.0), y

        return [sized_step(value, tf.ones([3])) for value in (x, -x, x)]

    assert_same_on_hpu(train, X)
    assert statistics.get().fallbacks == 0


def test_a_loop_value_that_grows() -> None:
    def train(x: tf.Tensor) -> Any:
        w = tf.Variable(tf.ones([4]))

        @tf.function
        def growing_step(x: tf.Tensor) -> Any:
            y = tf.nn.relu(x * w) + 1.0
            w.assign_sub(0.1 * tf.reduce_sum(y, 0))
            _, rows = tf.while_loop(
                lambda i, _: i < 3,
                lambda i, rows: (i + 1, tf.concat([rows, rows[:1] + 1.0], 0)),
                (0, y),
                shape_invariants=(tf.TensorShape([]), tf.TensorShape([None, 4])),
            )
            return tf.reduce_sum(tf.exp(-rows) + 1.0)

        return [growing_step(x) for _ in range(3)]

    assert_same_on_hpu(train, X)
    assert statistics.get().fallbacks == 0
