"""What ran as clusters on the HPU, for tests that must not pass because all of it ran elsewhere."""

from __future__ import annotations

from typing import Any

from habana_frameworks.tensorflow import statistics
from habana_frameworks.tensorflow.explanation import passes

# Ops that may stay out of a train step's cluster: what feeds it, and what only names or orders things.
OUTSIDE = frozenset({"_Arg", "_Retval", "IteratorGetNext", "NoOp"})


def report_of(name_part: str) -> Any:
    """What the passes did to the latest graph whose name holds `name_part`."""
    reports = passes.recent_reports()
    for report in reversed(reports):
        if name_part in report.graph:
            return report
    raise LookupError(f"no graph of {[report['graph'] for report in reports]} has {name_part!r} in its name")


def pattern_rewrites(name_part: str) -> list[Any]:
    """What pattern matching did to that graph, loops and branches in it included."""
    return [rewrite for rewrite in report_of(name_part).rewrites if rewrite.pass_name == "patterns"]


def assert_one_cluster(name_part: str, launches: int) -> statistics.Cluster:
    """The latest graph of that name is one cluster, which holds all that can run on the HPU and ran that often."""
    report = report_of(name_part)
    assert len(report.clusters) == 1, [cluster.name for cluster in report.clusters]
    left = [refusal for refusal in report.refusals if refusal.op not in OUTSIDE]
    assert not left, left
    cluster = statistics.get().cluster(name_part)
    assert cluster.launches == launches
    assert cluster.fallbacks == 0
    return cluster


def assert_launched() -> None:
    """Clusters ran on the HPU since the last reset, and none fell back to the CPU."""
    counts = statistics.get()
    assert counts.launched_clusters, "no cluster was launched"
    assert counts.fallbacks == 0, [cluster for cluster in counts.clusters if cluster.fallbacks]
