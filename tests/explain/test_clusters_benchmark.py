"""benchmarks/clusters.py, which compares clusters with TensorFlow's auto-clustering."""

from __future__ import annotations

import pytest
import tensorflow as tf

from benchmarks import clusters


def test_counting_of_marked_graphs() -> None:
    graph = tf.compat.v1.GraphDef()
    for name, op, cluster in [("a", "Const", "c0"), ("b", "Tanh", "c0"), ("c", "Exp", "c1"), ("d", "Where", "")]:
        node = graph.node.add(name=name, op=op)
        if cluster:
            node.attr["_XlaCluster"].s = cluster.encode()
    assert clusters.count_xla_clusters(graph) == clusters.Count(2, 2, 3)


@pytest.mark.parametrize("model", [pytest.param("transformer", marks=pytest.mark.slow), "lstm"])
def test_a_train_step_is_clustered_at_least_as_well_as_by_tensorflow(hpu: str, model: str) -> None:
    here, there = clusters.count_here(model), clusters.count_auto_jit(model)
    assert there.clusters > 0 and there.ops > 50
    assert here.at_least_as_good_as(there), clusters.line(model, here, there)
