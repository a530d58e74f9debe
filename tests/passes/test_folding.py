"""Constant folding up to a size limit, and Size ops in clusters."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from habana_frameworks.tensorflow.explanation import passes
from tests.passes.test_passes import graph_of, launches, on_cpu, placeholder, run_on_cpu

pytestmark = pytest.mark.usefixtures("hpu")


def ops(result: passes.PassResult) -> list[str]:
    return sorted(node.op for node in result.graph.node)


def test_constant_expressions_are_computed_once() -> None:
    def build() -> None:
        table = tf.reduce_sum(tf.sin(tf.constant([1.0, 2.0])) * 3.0)
        on_cpu(placeholder([2]) + table)

    graph = graph_of(build)
    result = passes.run(graph, "fold")
    assert ops(result) == ["AddV2", "Const", "Identity", "Placeholder"]
    assert result.report.rewrites[0].pass_name == "fold"
    assert result.data == passes.run(graph, "fold").data
    x = np.array([4.0, 5.0], np.float32)
    np.testing.assert_allclose(run_on_cpu(result.graph, {"x:0": x}), run_on_cpu(graph, {"x:0": x}), rtol=1e-6)


@pytest.mark.parametrize(("limit", "folded"), [(4096, True), (4095, False)])
def test_larger_values_stay_ops(limit: int, folded: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """1,024 float32 numbers exceed a small limit. Values computed from them are small again."""
    monkeypatch.setenv("TF_MAX_CONST_SIZE_IN_CLUSTER", str(limit))

    def computed() -> None:
        on_cpu(placeholder([1024]) * tf.sin(tf.constant(np.arange(1024, dtype=np.float32))))

    def filled() -> None:
        on_cpu(placeholder([1024]) * tf.fill([1024], 2.0))

    for build in (computed, filled):
        result = passes.run(graph_of(build), "fold")
        assert (ops(result) == ["Const", "Identity", "Mul", "Placeholder"]) == folded


def test_a_value_that_cannot_be_computed_stays() -> None:
    """The error occurs at run time, not during graph construction."""
    result = passes.run(graph_of(lambda: on_cpu(tf.constant([1]) // tf.constant([0]))), "fold")
    assert "FloorDiv" in ops(result)


def test_constants_on_the_cpu_are_left_alone() -> None:
    def build() -> None:
        with tf.device(passes.CPU):
            on_cpu(tf.sin(tf.constant(1.0)))

    assert "Sin" in ops(passes.run(graph_of(build), "fold"))


def test_sizes_in_clusters_are_habanas() -> None:
    def build() -> None:
        x = placeholder([None, 3])
        on_cpu(tf.tanh(x) * tf.cast(tf.size(x), tf.float32))

    result = passes.run(graph_of(build))
    (launch,) = launches(result.graph)
    functions = {function.signature.name: function for function in result.graph.library.function}
    inner = [node.op for node in functions[launch.attr["function"].func.name].node_def]
    assert "HabanaSize" in inner and "Size" not in inner


def test_sizes_outside_clusters_stay() -> None:
    result = passes.run(graph_of(lambda: on_cpu(tf.size(placeholder([None, 3])))))
    assert "Size" in ops(result) and "HabanaSize" not in ops(result)


def test_a_size_follows_the_shape_on_the_hpu() -> None:
    @tf.function(input_signature=[tf.TensorSpec([None, 3])])
    def mean(x: tf.Tensor) -> tf.Tensor:
        return tf.reduce_sum(x * 2.0) / tf.cast(tf.size(x), tf.float32)

    with tf.device("/device:HPU:0"):
        for rows in (2, 5):
            assert mean(tf.ones([rows, 3])).numpy() == 2.0
