"""Ops off the HPU or outside clusters, by rule and line of the program, with their cost."""

from __future__ import annotations

import collections
import dataclasses
import linecache
from collections.abc import Iterator, Sequence

from habana_frameworks.tensorflow.cli.report.model import PlacementException
from habana_frameworks.tensorflow.explanation import Explanation, Graph, Op
from habana_frameworks.tensorflow.explanation import rules as all_rules

# Ops that hand a batch of the input pipeline to the graph: their copies are part of every program.
_INPUT_OPS = frozenset(("IteratorGetNext", "IteratorGetNextAsOptional", "IteratorGetNextSync"))
# Rule of the ops in a cluster that ran on the CPU; the cluster is one exception.


def find(explanation: Explanation) -> tuple[PlacementException, ...]:
    """Returns the exceptions, the most expensive first: by bytes copied, runs on the CPU, splits, number of ops.

    Graphs share one exception for a rule and line of the program, because a function can be traced more than once.
    Omits ops that cost none of these, ops of the input pipeline, and rules that apply to ops of every graph
    (Rule.expected).
    """
    counted: set[tuple[str, int]] = set()
    found = [
        exception for graph in explanation.graphs for exception in (*_of_ops(graph), *_of_clusters(graph, counted))
    ]
    groups: dict[tuple[str, str], list[PlacementException]] = collections.defaultdict(list)
    for one in sorted(found, key=_order):
        groups[one.rule, one.source_line or f"unknown line of {one.graph}"].append(one)
    merged = [_merge(group) for group in groups.values()]
    return tuple(sorted((one for one in merged if one.copied_bytes or one.cpu_runs or one.splits), key=_order))


def _order(one: PlacementException) -> tuple[int, ...]:
    return -one.copied_bytes, -one.cpu_runs, -one.splits, -len(one.ops)


def _merge(group: Sequence[PlacementException]) -> PlacementException:
    """Returns the first exception, with the ops and costs of all."""
    return dataclasses.replace(
        group[0],
        ops=tuple(dict.fromkeys(op for one in group for op in one.ops)),
        graphs=len({one.graph for one in group}),
        copied_bytes=sum(one.copied_bytes for one in group),
        cpu_runs=sum(one.cpu_runs for one in group),
        splits=sum(one.splits for one in group),
    )


def _of_ops(graph: Graph) -> Iterator[PlacementException]:
    groups: dict[tuple[str, str | None], list[Op]] = collections.defaultdict(list)
    for op in graph.ops:
        if op.rule in (None, all_rules.Rule.FALLBACK) or op.type in _INPUT_OPS:
            continue
        if not all_rules.find(op.rule).expected:
            groups[op.rule, op.source_line].append(op)
    for (rule, line), ops in groups.items():
        yield _exception(
            graph,
            rule,
            ops[0].reason or "",
            ops,
            line,
            copied_bytes=sum(op.copied_bytes for op in ops),
            cpu_runs=sum(op.cpu_runs for op in ops),
            splits=sum(op.splits for op in ops),
        )


def _of_clusters(graph: Graph, counted: set[tuple[str, int]]) -> Iterator[PlacementException]:
    """Yields the clusters that ran on the CPU. Clusters of one name and size share counters."""
    for cluster in graph.clusters:
        if cluster.rule is None or not cluster.fallbacks or all_rules.find(cluster.rule).expected:
            continue
        if (cluster.name, cluster.ops) in counted:
            continue
        counted.add((cluster.name, cluster.ops))
        ops = [op for op in graph.ops if op.cluster == cluster.name]
        yield _exception(
            graph,
            cluster.rule,
            cluster.reason or "",
            ops,
            graph.line_of_cluster(cluster.name),
            copied_bytes=cluster.fallback_bytes,
            cpu_runs=cluster.fallbacks,
            splits=0,
        )


def _exception(
    graph: Graph,
    name: str,
    reason: str,
    ops: Sequence[Op],
    line: str | None,
    copied_bytes: int,
    cpu_runs: int,
    splits: int,
) -> PlacementException:
    rule = all_rules.find(name)
    return PlacementException(
        rule=name,
        meaning=rule.meaning,
        remedy=rule.remedy,
        reason=reason,
        ops=tuple(f"{op.name} ({op.type})" for op in ops),
        graph=graph.name,
        graphs=1,
        copied_bytes=copied_bytes,
        cpu_runs=cpu_runs,
        splits=splits,
        source_line=line,
        source=_source(line),
    )


def _source(line: str | None) -> str:
    if line is None:
        return ""
    file, _, number = line.rpartition(":")
    return linecache.getline(file, int(number)).strip()
