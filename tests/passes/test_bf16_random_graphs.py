"""bfloat16 conversion of random graphs: equals the slow reference, without redundant casts."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest
import tensorflow as tf
from hypothesis import HealthCheck, given, settings

from habana_frameworks.tensorflow.explanation import passes
from habana_frameworks.tensorflow.explanation.passes import HPU
from tests.passes import bf16_graphs, bf16_reference


def convert(graph: tf.compat.v1.GraphDef, config: dict[str, list[Any]], path: pathlib.Path) -> passes.PassResult:
    path.write_text(json.dumps(config))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TF_BF16_CONVERSION", str(path))
        return passes.run(graph, "bf16")


def shape_of(graph: tf.compat.v1.GraphDef) -> dict[str, tuple[str, list[str], dict[str, str]]]:
    return {
        node.name: (node.op, list(node.input), {name: str(value) for name, value in node.attr.items()})
        for node in graph.node
    }


@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
@given(plan=bf16_graphs.steps(25), config=bf16_graphs.configs())
def test_the_conversion_equals_the_reference(
    plan: list[bf16_graphs.Step], config: dict[str, list[Any]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "random.json"
    graph = bf16_graphs.Builder().build(plan)
    result = convert(graph, config, path)
    reported = {rewrite.node: rewrite.what.split()[-1] for rewrite in result.report.rewrites}
    assert reported == bf16_reference.converted(graph, config, HPU)

    before = {node.name: node for node in graph.node}
    for node in result.graph.node:
        if node.name not in before:
            assert node.op == "Cast", node
            continue
        changed = {
            name: bf16_reference.BF16
            for name, value in before[node.name].attr.items()
            if value != node.attr[name] and node.op != "Cast"
        }
        expected = bf16_reference.convertible_attrs(before[node.name]) if node.name in reported else set()
        assert changed.keys() == expected, node.name
    bf16_reference.casts_are_minimal(graph, result.graph)
    # TensorFlow checks the dtypes of all edges.
    with tf.Graph().as_default():
        tf.import_graph_def(result.graph, name="")
    again = convert(result.graph, config, path)
    assert again.report.rewrites == [] and shape_of(again.graph) == shape_of(result.graph)
