"""Train steps of Keras models form one cluster."""

from __future__ import annotations

import pytest
import tensorflow as tf

from habana_frameworks.tensorflow.explanation import passes
from tests.passes import keras_graphs
from tests.support.keras_package import keras_2_only

BORDER = {"_Arg", "_Retval", "NoOp"}


def ops_on_hpu(graph: tf.compat.v1.GraphDef) -> list[str]:
    """Returns the ops on the HPU, without the border and the Optional in which Keras 3's steps return their losses."""
    optionals = {node.name for node in graph.node if node.op == "OptionalFromValue"}
    nodes = [node for node in graph.node if "HPU" in node.device and node.op not in BORDER]
    return sorted(node.op for node in nodes if optionals.isdisjoint([node.name, *node.input[:1]]))


@pytest.mark.parametrize("optimizer", sorted(keras_graphs.OPTIMIZERS))
def test_mlp_step_is_one_cluster(optimizer: str) -> None:
    result = passes.run(keras_graphs.train_step("mlp", optimizer), function="__inference_train_function_12")
    assert ops_on_hpu(result.graph) == ["HabanaLaunch"]
    (cluster,) = result.report.clusters
    assert cluster.name == "habana_cluster_train_function_0"
    (launch,) = (node for node in result.graph.node if node.op == "HabanaLaunch")
    assert launch.name == launch.attr["function"].func.name == cluster.name
    assert not launch.attr["must_compile"].b


@pytest.mark.parametrize(
    ("model", "optimizer"),
    [
        ("cnn", "sgd"),
        pytest.param("cnn", "legacy_adam", marks=keras_2_only),
        ("transformer", "adam"),
        pytest.param("resnet", "adam", marks=pytest.mark.slow),
    ],
)
def test_step_is_one_cluster_with_the_state_of_random_ops_beside_it(model: str, optimizer: str) -> None:
    result = passes.run(keras_graphs.train_step(model, optimizer), function="__inference_train_function_12")
    ops = ops_on_hpu(result.graph)
    assert ops.count("HabanaLaunch") == 1
    assert set(ops) <= {"HabanaLaunch", "HabanaPhiloxState", "Pack", "Const"}
    (cluster,) = result.report.clusters
    assert cluster.constants == 0  # a constant that changes would need a recipe per value
