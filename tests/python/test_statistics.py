"""Statistics: conversion of the plugin's messages to dataclasses, and counters of a real run."""

from __future__ import annotations

import pytest

from habana_frameworks.tensorflow import statistics
from habana_frameworks.tensorflow._internal.messages import report_pb2

EAGER = report_pb2.EagerCounters(recipes=3, compile_seconds=0.25, launches=7, host_runs=6, host_bytes=1024)


def cluster(name: str, launches: int = 10) -> report_pb2.ClusterCounters:
    return report_pb2.ClusterCounters(
        name=f"habana_cluster_{name}_0", ops=81, recipes=2, launches=launches, fallback_reasons={"lazy": 1}
    )


def test_parse() -> None:
    message = report_pb2.Statistics(
        clusters=[cluster("train_step"), cluster("init", launches=0)], eager=EAGER, compile_seconds=0.75, launches=17
    )
    parsed = statistics.parse(message)
    assert [counters.name for counters in parsed.launched_clusters] == ["habana_cluster_train_step_0"]
    assert parsed.cluster("train_step").ops == 81
    assert parsed.cluster("train_step").fallback_reasons == {"lazy": 1}
    assert parsed.eager.host_runs == 6
    assert (parsed.compile_seconds, parsed.launches) == (0.75, 17)


def test_no_or_many_clusters_of_a_name() -> None:
    parsed = statistics.parse(
        report_pb2.Statistics(clusters=[cluster("train_step"), cluster("other_train_step")], eager=EAGER)
    )
    with pytest.raises(LookupError, match="'train_step' matches 2 launched clusters"):
        parsed.cluster("train_step")
    with pytest.raises(LookupError, match="'test_step' matches 0 launched clusters"):
        parsed.cluster("test_step")


def test_placement() -> None:
    assert statistics.parse_placement([]).hpu_share == 0
    placement = statistics.parse_placement(
        [report_pb2.GraphReport(nodes=8, hpu_nodes=7), report_pb2.GraphReport(nodes=2)]
    )
    assert (placement.hpu_ops, placement.all_ops, placement.hpu_share) == (7, 10, 0.7)


def test_eager_ops_are_counted(hpu: str) -> None:
    import tensorflow as tf

    statistics.reset()
    with tf.device(hpu):
        x = tf.constant([1.5, 2.5])
        for _ in range(5):
            x = tf.sinh(x * 0.5)
        x.numpy()
    counts = statistics.get()
    assert counts.eager.host_runs + counts.eager.launches >= 10
    statistics.reset()
    assert statistics.get().eager.host_runs == 0
