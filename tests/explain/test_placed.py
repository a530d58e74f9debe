"""Rules of placement, and splits of clusters, in the graphs of tests/explain/placed.py."""

from __future__ import annotations

import pathlib

import pytest

from habana_frameworks.tensorflow.explanation import Explanation, from_json
from tests.support.processes import ROOT, WARM_PYTHON, run

SETTINGS = {
    "HPU_OP_LIST": "gaudi",
    "HPU_OP_LIST_UNKNOWN": "cpu",
    "TF_PLACE_ON_CPU": "Tanh, AssignAddVariableOp",
    "HPU_MAX_CLUSTER_SIZE": "10",
}


@pytest.fixture(scope="module")
def explanation(tmp_path_factory: pytest.TempPathFactory) -> Explanation:
    target = tmp_path_factory.mktemp("explain") / "placed.json"
    program = ROOT / "tests" / "explain" / "placed.py"
    command = [WARM_PYTHON, "-m", "habana_frameworks.tensorflow", "explain", "--json", str(target), str(program)]
    run(command, SETTINGS)
    return from_json(pathlib.Path(target).read_text())


@pytest.mark.parametrize(
    ("name", "rule"), [("listed", "user-setting"), ("unlisted", "op-list"), ("typed", "dtype"), ("deep", "rank")]
)
def test_ops_that_placement_refuses(explanation: Explanation, name: str, rule: str) -> None:
    op = explanation.graph("placed").op(name)
    assert (op.rule, op.cluster) == (rule, None)
    assert "CPU" in op.device and op.reason


def test_bytes_that_a_refusal_costs(explanation: Explanation) -> None:
    graph = explanation.graph("placed")
    assert graph.op("typed").copied_bytes == 2 * 2 * 16  # a 4 by 4 bfloat16 tensor, copied in both directions
    assert graph.op("listed").copied_bytes + graph.op("unlisted").copied_bytes == 4 * 64


def test_ops_that_cut_clusters(explanation: Explanation) -> None:
    assert [(split.rule, tuple(split.through)) for split in explanation.graph("placed").splits] == [
        ("cycle", ("listed",)),
        ("cycle", ("unlisted",)),
    ]
    (split,) = explanation.graph("updated").splits
    assert (split.rule, tuple(split.through)) == ("resource-hazard", ("AssignAddVariableOp",))
    assert explanation.graph("updated").op("AssignAddVariableOp").rule == "user-setting"


def test_ops_between_clusters_in_any_order(explanation: Explanation) -> None:
    (split,) = explanation.graph("joined").splits
    assert (split.rule, split.through) == ("cycle", ("outside",))
    (split,) = explanation.graph("crossed").splits
    assert split.rule == "cycle" and "after_first" in split.through


def test_clusters_between_clusters(explanation: Explanation) -> None:
    graph = explanation.graph("around")
    (middle,) = {split.second for split in graph.splits if split.rule == "must-compile"} & {
        split.first for split in graph.splits if split.rule == "must-compile"
    }
    (split,) = [split for split in graph.splits if split.rule == "order"]
    assert split.reason == f"other clusters must run between the clusters: {middle}"


def test_limits_and_branches_that_cut_clusters(explanation: Explanation) -> None:
    long = explanation.graph("long")
    assert {split.rule for split in long.splits} == {"size-limit"} and len(long.clusters) == len(long.splits) + 1
    assert {split.rule for split in explanation.graph("branching").splits} == {"deadness"}
