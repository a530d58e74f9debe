"""The statistics: JSON of the plugin into dataclasses, and the real thing."""

from __future__ import annotations

import pytest

from habana_frameworks.tensorflow import statistics

CLUSTER = {
    "name": "habana_cluster_train_step_0",
    "ops": 81,
    "recipes": 2,
    "compile_seconds": 0.5,
    "launches": 10,
    "fallbacks": 1,
    "fallback_bytes": 64,
}
EAGER = {"recipes": 3, "compile_seconds": 0.25, "launches": 7, "host_runs": 6, "host_bytes": 1024}
TOTALS = {"compile_seconds": 0.75, "launches": 17, "fallbacks": 1, "fallback_bytes": 64}


def test_parse() -> None:
    unused = {**CLUSTER, "name": "habana_cluster_init_0", "launches": 0, "from_a_later_release": 1}
    parsed = statistics.parse({"clusters": [CLUSTER, unused], "eager": EAGER, **TOTALS, "from_a_later_release": []})
    assert [cluster.name for cluster in parsed.launched_clusters] == ["habana_cluster_train_step_0"]
    assert parsed.cluster("train_step").ops == 81
    assert parsed.eager.host_runs == 6
    assert (parsed.compile_seconds, parsed.launches) == (0.75, 17)


def test_no_or_many_clusters_of_a_name() -> None:
    other = {**CLUSTER, "name": "habana_cluster_train_step_1"}
    parsed = statistics.parse({"clusters": [CLUSTER, other], "eager": EAGER, **TOTALS})
    with pytest.raises(LookupError, match="2 launched clusters have 'train_step'"):
        parsed.cluster("train_step")
    with pytest.raises(LookupError, match="0 launched clusters have 'test_step'"):
        parsed.cluster("test_step")


def test_placement() -> None:
    assert statistics.parse_placement([]).hpu_share == 0
    placement = statistics.parse_placement([{"nodes": 8, "hpu_nodes": 7}, {"nodes": 2, "hpu_nodes": 0}])
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
