"""Collective reductions: early start, one order on all ranks, and splits of the computation around them."""

from __future__ import annotations

import re

import pytest
import tensorflow as tf
from tensorflow.python.ops import collective_ops

from habana_frameworks.tensorflow.explanation import passes
from tests.passes.test_passes import graph_of, launches, on_cpu, placeholder

pytestmark = pytest.mark.usefixtures("hpu")

BUCKETS = 3
LAYERS = 4  # per bucket
BY_TRANSPORT = "_habana_by_transport"


def all_reduce(tensor: tf.Tensor, key: int) -> tf.Tensor:
    return collective_ops.all_reduce_v2(tensor, 2, 1, key, name=f"reduce_{key}")


def backward_pass() -> None:
    """Backward pass whose buckets each need all inputs of the previous bucket. The last bucket is created first."""
    gradients = [placeholder([4, 4])]
    for _ in range(BUCKETS):
        gradient = gradients[-1]
        for _ in range(LAYERS):
            gradient = tf.tanh(tf.matmul(gradient, gradient))
        gradients.append(gradient)
    reduced = [all_reduce(gradient, key) for key, gradient in reversed(list(enumerate(gradients[1:])))]
    metric = tf.reduce_sum(tf.exp(gradients[1]))
    on_cpu(tf.add_n([value * 0.1 for value in reduced]))
    on_cpu(metric * 2.0)


def nodes(graph: tf.compat.v1.GraphDef) -> dict[str, tf.compat.v1.NodeDef]:
    """Returns the nodes by name. Removes generated numbers from names and inputs."""
    found = {}
    for node in graph.node:
        plain = tf.compat.v1.NodeDef()
        plain.CopyFrom(node)
        plain.name = re.sub(r"/_\d+$", "", node.name)
        plain.input[:] = [re.sub(r"/_\d+$", "", name) for name in node.input]
        found[plain.name] = plain
    return found


def cluster_of(graph: tf.compat.v1.GraphDef, name: str) -> str:
    """Returns the launch whose result is the input of a start node."""
    return nodes(graph)[name].input[0].split(":")[0]


def test_each_bucket_has_a_cluster_and_another_follows() -> None:
    graph = passes.run(graph_of(backward_pass)).graph
    assert len(launches(graph)) == BUCKETS + 1
    found = nodes(graph)
    for key in range(BUCKETS):
        start, reduce = found[f"reduce_{key}/start"], found[f"reduce_{key}/reduce"]
        assert (start.op, reduce.op) == ("HpuCollectiveStart", "CollectiveReduceV2")
        assert reduce.input[0] == start.input[0]
        assert reduce.input[reduce.attr["Nordering_token"].i + 3] == start.name
    stages = [cluster_of(graph, f"reduce_{key}/start") for key in range(BUCKETS)]
    assert len(set(stages)) == BUCKETS
    # The next stage's cluster waits for the start of the copy, not for the reduction.
    for key in range(BUCKETS - 1):
        assert f"^reduce_{key}/start" in found[stages[key + 1]].input
        assert f"^reduce_{key}/reduce" in found[f"reduce_{key + 1}/reduce"].input


def test_equal_graphs_give_equal_orders() -> None:
    """The order is by longest path, then by name, for any order of the nodes."""
    graph = graph_of(backward_pass)
    shuffled = tf.compat.v1.GraphDef()
    shuffled.CopyFrom(graph)
    del shuffled.node[:]
    shuffled.node.extend(reversed(graph.node))
    orders = []
    for one in (graph, shuffled):
        found = nodes(passes.run(one, "collectives").graph)
        orders.append({name: sorted(i for i in node.input if i.startswith("^reduce")) for name, node in found.items()})
    assert orders[0] == orders[1]


def test_synchronous_reductions_do_not_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF_HABANA_COLLECTIVE_REDUCE_SYNC", "1")
    graph = passes.run(graph_of(backward_pass)).graph
    assert len(launches(graph)) == 2
    assert len({cluster_of(graph, f"reduce_{key}/start") for key in range(BUCKETS)}) == 1


def test_bfloat16(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HPU_COLLECTIVE_PRECISION", "bfloat16")

    def build() -> None:
        on_cpu(all_reduce(tf.tanh(placeholder([4])), 0) + 1.0)
        whole = tf.bitcast(tf.cast(placeholder([4]), tf.float64), tf.int64)
        on_cpu(all_reduce(whole, 1) + 1)

    graph = passes.run(graph_of(build)).graph
    found = nodes(graph)
    assert found["reduce_0/reduce"].attr["T"].type == tf.bfloat16.as_datatype_enum
    assert found["reduce_1/reduce"].attr["T"].type == tf.int64.as_datatype_enum
    assert "Cast" not in {node.op for node in graph.node}, "the casts are in the clusters before and after"
    assert len(launches(graph)) == 2, "the second reduction needs too little for a cluster of its own"


@pytest.mark.parametrize("ordered", [True, False])
def test_conversion_leaves_reductions_of_strategies_in_float32(ordered: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only reductions of strategies have ordering tokens. The recipe `full` converts other reductions."""
    monkeypatch.setenv("TF_BF16_CONVERSION", "full")

    def build() -> None:
        gradient = tf.matmul(placeholder([4, 4]), placeholder([4, 4]))
        token = tf.compat.v1.placeholder(tf.resource, []) if ordered else None
        reduced = collective_ops.all_reduce_v2(gradient, 2, 1, 0, ordering_token=token, name="reduce_0")
        on_cpu(reduced * 2.0)

    found = nodes(passes.run(graph_of(build)).graph)
    expected = tf.float32 if ordered else tf.bfloat16
    assert found["reduce_0/reduce"].attr["T"].type == expected.as_datatype_enum


def test_reductions_of_host_tensors_are_left_alone() -> None:
    graph = passes.run(graph_of(lambda: on_cpu(all_reduce(tf.constant([1, 2]), 0)))).graph
    assert nodes(graph)["reduce_0"].op == "CollectiveReduceV2"


def test_other_collectives_join_the_order_but_for_broadcasts() -> None:
    def build() -> None:
        tensor = tf.tanh(placeholder([4]))
        on_cpu(collective_ops.all_gather_v2(tensor, 2, 1, 7, name="gather") * 2.0)
        with tf.name_scope("broadcast"):
            on_cpu(collective_ops.broadcast_send_v2(tensor, 2, 1, 8) * 2.0)
        on_cpu(all_reduce(tf.tanh(tf.tanh(tensor)), 0) * 2.0)

    found = nodes(passes.run(graph_of(build), "collectives").graph)
    assert "^gather" in found["reduce_0/reduce"].input
    assert BY_TRANSPORT not in found["gather"].attr
    (broadcast,) = [node for node in found.values() if node.op == "CollectiveBcastSendV2"]
    assert broadcast.attr[BY_TRANSPORT].b
    assert not any(name.startswith("^") for name in broadcast.input)


@pytest.mark.parametrize("count", [1, 2])
def test_several_collectives_in_a_loop_have_no_order(count: int) -> None:
    def build() -> None:
        def body(tensor: tf.Tensor) -> list[tf.Tensor]:
            for key in range(count):
                tensor = all_reduce(tensor * 2.0, key)
            return [tensor]

        with tf.compat.v1.variable_scope("loop"):
            tf.compat.v1.disable_control_flow_v2()
            try:
                result = tf.compat.v1.while_loop(lambda tensor: tensor[0] < 9.0, body, [placeholder([4])])
            finally:
                tf.compat.v1.enable_control_flow_v2()
        on_cpu(result * 2.0)

    graph = passes.run(graph_of(build), "collectives").graph
    reduces = [node for node in graph.node if node.op == "CollectiveReduceV2"]
    assert [BY_TRANSPORT in node.attr for node in reduces] == [count > 1] * count
    assert not any(name.startswith("^") and "reduce" in name for node in reduces for name in node.input)
