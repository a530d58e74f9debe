"""Checks of clusters on the HPU, so that tests do not pass because all ops ran elsewhere."""

from __future__ import annotations

from typing import Any

from habana_frameworks.tensorflow import statistics
from habana_frameworks.tensorflow.explanation import passes

# Ops that may stay outside a train step's cluster: its inputs, and ops that only name or order.
OUTSIDE = frozenset({"_Arg", "_Retval", "IteratorGetNext", "NoOp"})


def report_of(name_part: str) -> Any:
    """Returns the passes' report on the latest graph whose name contains `name_part`."""
    reports = passes.recent_reports()
    for report in reversed(reports):
        if name_part in report.graph:
            return report
    raise LookupError(f"no graph name contains {name_part!r}: {[report.graph for report in reports]}")


def pattern_rewrites(name_part: str) -> list[Any]:
    """Returns the rewrites of pattern matching in that graph, including its loops and branches."""
    return [rewrite for rewrite in report_of(name_part).rewrites if rewrite.pass_name == "patterns"]


def _is_of_optional(refusal: Any, report: Any) -> bool:
    """Whether the op makes the Optional in which a train step of Keras 3 returns its losses."""
    optional = "OptionalFromValue"
    borders = refusal.rule == "list-border" and any(found.op == optional for found in report.refusals)
    return refusal.op == optional or borders


def assert_one_cluster(name_part: str, launches: int) -> statistics.Cluster:
    """Checks that the latest graph of that name is one cluster, with all HPU ops and `launches` launches."""
    report = report_of(name_part)
    assert len(report.clusters) == 1, [cluster.name for cluster in report.clusters]
    left = [
        refusal for refusal in report.refusals if refusal.op not in OUTSIDE and not _is_of_optional(refusal, report)
    ]
    assert not left, left
    cluster = statistics.get().cluster(name_part)
    assert cluster.launches == launches
    assert cluster.fallbacks == 0
    return cluster


def assert_launched() -> None:
    """Checks that clusters ran on the HPU since the last reset, without CPU fallbacks."""
    counts = statistics.get()
    assert counts.launched_clusters, "no cluster was launched; `hpu explain` says why, such as too few ops"
    assert counts.fallbacks == 0, [cluster for cluster in counts.clusters if cluster.fallbacks]
