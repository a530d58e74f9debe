"""Clustering of random graphs preserves results and order, and is deterministic."""

from __future__ import annotations

import collections
import os
from collections.abc import Iterator, Set

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from habana_frameworks.tensorflow.explanation import passes
from tests.passes import random_graphs


@pytest.fixture(autouse=True)
def own_settings() -> Iterator[None]:
    names = ("HPU_MIN_CLUSTER_SIZE", "HPU_MAX_CLUSTER_SIZE")
    yield
    for name in names:
        os.environ.pop(name, None)


def edges(graph: tf.compat.v1.GraphDef) -> dict[str, set[str]]:
    return {node.name: {source.lstrip("^").split(":")[0] for source in node.input} for node in graph.node}


def reaches(graph: tf.compat.v1.GraphDef, constants: Set[str] = frozenset()) -> dict[str, set[str]]:
    """Returns the nodes before each node, except nodes before `constants`.

    Fails on a cycle; the graphs have no loops.
    """
    before: dict[str, set[str]] = {}
    sources = {name: set() if name in constants else inputs for name, inputs in edges(graph).items()}
    waiting = collections.deque(sources)
    stuck = 0
    while waiting:
        name = waiting.popleft()
        if not sources[name] <= before.keys():
            waiting.append(name)
            stuck += 1
            assert stuck <= len(waiting), f"cycle among {list(waiting)[:10]}"
            continue
        stuck = 0
        before[name] = sources[name].union(*(before[source] for source in sources[name]))
    return before


def holders(graph: tf.compat.v1.GraphDef) -> dict[str, str]:
    """Returns, for each node in the graph or in a cluster, the graph's node that runs it."""
    functions = {function.signature.name: function for function in graph.library.function}
    holder = {}
    for node in graph.node:
        if node.op != "HabanaLaunch":
            assert node.name not in holder
            holder[node.name] = node.name
            continue
        for inner in functions[node.attr["function"].func.name].node_def:
            assert inner.name not in holder, inner.name
            holder[inner.name] = node.name
    return holder


# A folded op that remains because of a control edge.
FOLDED = [random_graphs.Step(kind, (0, 0), None, False, 0) for kind in ("const", "add", "shape")]


@example(plan=FOLDED, smallest=1, largest=0)
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(plan=random_graphs.steps(30), smallest=st.integers(1, 3), largest=st.sampled_from([0, 0, 2, 5]))
def test_clusters_compute_the_same_as_the_graph(plan: list[random_graphs.Step], smallest: int, largest: int) -> None:
    os.environ["HPU_MIN_CLUSTER_SIZE"] = str(smallest)
    os.environ["HPU_MAX_CLUSTER_SIZE"] = str(largest)
    graph = random_graphs.Builder().build(plan)
    result = passes.run(graph)
    assert passes.run(graph).data == result.data
    clustered = result.graph
    before = reaches(clustered)
    holder = holders(clustered)
    # Clusters have copies of constants, which wait for no node. A folded op is such a constant.
    constants = {node.name for node in graph.node if node.op == "Const"}
    constants |= {rewrite.node for rewrite in result.report.rewrites if rewrite.pass_name == "fold"}
    for name, sources in reaches(graph, constants).items():
        for source in sources - constants:
            assert holder[source] == holder[name] or holder[source] in before[holder[name]], (source, name)
    for node in graph.node:
        assert node.name in constants or node.name in holder, node.name
    expected, got = random_graphs.values(graph), random_graphs.values(clustered)
    assert len(expected) == len(got)
    for one, other in zip(expected, got):
        np.testing.assert_allclose(other, one, rtol=1e-6)
