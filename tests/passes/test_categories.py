"""Categorical sampling in clusters: draws equal TensorFlow's CPU kernels'."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import tensorflow as tf

from habana_frameworks.tensorflow.explanation import passes
from tests.passes import random_graphs
from tests.passes.test_passes import graph_of, launches, on_cpu, placeholder, refusals

SEED = (7, 11)
# Few rows, because the CPU's kernel distributes many rows over threads, which draw some numbers twice.
ROWS, CLASSES = 6, 9


def draws(graph: tf.compat.v1.GraphDef, logits: np.ndarray, times: int) -> list[np.ndarray]:
    with tf.Graph().as_default() as own:
        tf.import_graph_def(random_graphs.on_cpu(graph), name="")
        with tf.compat.v1.Session() as session:
            feeds = {own.get_tensor_by_name("x:0"): logits}
            return [session.run(own.get_tensor_by_name("out:0"), feeds) for _ in range(times)]


def logits_of(rows: int, dtype: tf.DType = tf.float32) -> np.ndarray:
    return (np.random.default_rng(rows).standard_normal((rows, CLASSES)) * 3).astype(dtype.as_numpy_dtype)


def expect_same(draw: Callable[[tf.Tensor], tf.Tensor], logits: np.ndarray, times: int = 3) -> list[np.ndarray]:
    dtype = tf.as_dtype(logits.dtype)
    graph = graph_of(lambda: on_cpu(draw(placeholder([None, CLASSES], dtype))))
    rewritten = passes.run(graph, "random")
    assert len(rewritten.report.rewrites) == 1
    assert not any("Multinomial" in node.op for node in rewritten.graph.node)
    expected, actual = draws(graph, logits, times), draws(rewritten.graph, logits, times)
    np.testing.assert_array_equal(actual, expected)
    assert actual[0].dtype == expected[0].dtype
    return actual


@pytest.mark.parametrize("dtype", [tf.float32, tf.bfloat16, tf.float16, tf.float64], ids=lambda dtype: dtype.name)
@pytest.mark.parametrize("samples", [1, 2, 3, 4, 7])
def test_of_a_seed(samples: int, dtype: tf.DType) -> None:
    for rows in (ROWS, 1, 0):
        first, second, _ = expect_same(
            lambda x: tf.random.stateless_categorical(x, samples, SEED), logits_of(rows, dtype)
        )
        np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("samples", [1, 2, 3, 4, 7])
def test_of_a_state_that_moves_on(samples: int) -> None:
    first, second, third = expect_same(lambda x: tf.random.categorical(x, samples, seed=5), logits_of(ROWS))
    assert not np.array_equal(first, second) and not np.array_equal(second, third)


@pytest.mark.parametrize("dtype", [tf.int32, tf.int64], ids=lambda dtype: dtype.name)
def test_types_of_categories(dtype: tf.DType) -> None:
    expect_same(lambda x: tf.random.stateless_categorical(x, 3, SEED, dtype=dtype), logits_of(ROWS))
    expect_same(lambda x: tf.random.categorical(x, 3, dtype=dtype, seed=1), logits_of(ROWS))


def test_logits_that_are_not_finite_have_no_weight() -> None:
    logits = logits_of(ROWS)
    logits[0, :] = -np.inf
    logits[1, 3:] = np.nan
    logits[2, :5] = np.inf
    logits[3, :-1] = -np.inf
    logits[4, :] = np.finfo(np.float32).max
    drawn, *_ = expect_same(lambda x: tf.random.stateless_categorical(x, 7, SEED), logits)
    assert (drawn[0] == CLASSES).all()  # equals the CPU kernel's result
    assert (drawn[1] < 3).all() and (drawn[2] >= 5).all() and (drawn[3] == CLASSES - 1).all()


def test_of_one_class() -> None:
    graph = graph_of(lambda: on_cpu(tf.random.categorical(placeholder([None, 1]), 3, seed=1)))
    (drawn,) = draws(passes.run(graph, "random").graph, np.ones((4, 1), np.float32), 1)
    np.testing.assert_array_equal(drawn, np.zeros((4, 3)))


def test_the_cluster_holds_the_drawing_and_not_the_state() -> None:
    graph = graph_of(lambda: on_cpu(tf.random.categorical(tf.tanh(placeholder([None, CLASSES]) * 2.0), 3, seed=1) + 1))
    result = passes.run(graph)
    (launch,) = launches(result.graph)
    assert any("state" in source for source in launch.input)
    assert any(node.op == "HabanaPhiloxState" for node in result.graph.node)


@pytest.mark.parametrize(
    "draw",
    [
        lambda: tf.random.categorical(placeholder([None, None]), 3),
        lambda: tf.random.categorical(placeholder([4, CLASSES]), placeholder([], tf.int32, "samples")),
        lambda: tf.random.categorical(placeholder([4, CLASSES]), 0),
    ],
    ids=["unknown classes", "unknown samples", "no samples"],
)
def test_ops_that_stay_on_the_cpu(draw: Callable[[], tf.Tensor]) -> None:
    graph = graph_of(lambda: on_cpu(draw()))
    assert passes.run(graph, "random").report.rewrites == []
    assert "random" in refusals(passes.run(graph)).values()
