"""Text summary of an explanation for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from habana_frameworks.tensorflow import flags
from habana_frameworks.tensorflow._internal.text import number, shortened, shown_line, size, table
from habana_frameworks.tensorflow.explanation import memory, sizes, times
from habana_frameworks.tensorflow.explanation.model import (
    ClusterSplit,
    Findings,
    Graph,
    RuleTotal,
    counted_clusters,
)

_WIDTH = 110
_MAX_GRAPHS = 12
_MAX_SPLITS = 8


def summarize(findings: Findings) -> str:
    return "\n".join(_lines(findings)) + "\n"


def _lines(findings: Findings) -> Iterator[str]:
    graphs = findings.traces
    yield (
        f"{number(len(graphs), 'graph')}: {_share(findings.hpu_ops, findings.ops)} ops on the HPU, "
        f"{_share(findings.clustered_ops, findings.ops)} in {number(findings.clusters, 'cluster')}"
    )
    if fallbacks := sum(cluster.fallbacks for cluster in counted_clusters(traces[0] for traces in graphs)):
        yield f"{number(fallbacks, 'run')} of clusters on the CPU: see the rules below"
    if findings.dropped_graphs:
        yield f"{number(findings.dropped_graphs, 'graph')} more, omitted because the records of ops were full"
    if graphs:
        yield ""
        yield from table(["graph", "ops", "on HPU", "clusters", "in them", "launches"], _graph_rows(graphs))
        if len(graphs) > _MAX_GRAPHS:
            yield f"  … and {number(len(graphs) - _MAX_GRAPHS, 'smaller graph')}"
        yield from _precision(graphs)
    totals = findings.rules()
    worth_a_look = [total for total in totals if not total.rule.expected]
    if worth_a_look:
        yield ""
        yield "Rules that keep ops off the HPU or out of clusters, or split clusters:"
        for total in worth_a_look:
            yield from _rule(total)
    expected = [f"{_label(total)} {total.ops or total.splits}" for total in totals if total.rule.expected]
    if expected:
        yield ""
        yield from textwrap.wrap("Expected: " + ", ".join(expected), _WIDTH, subsequent_indent="  ")
    checks = sum("/habana_check/" in op.name for traces in graphs for op in traces[0].ops)
    if checks:
        yield f"Checks of indices and values outside clusters: {number(checks, 'op')} (…/habana_check/…)"
    splits = [split for traces in graphs for split in traces[0].splits]
    if splits:
        yield ""
        yield "Cluster splits:"
        for split in splits[:_MAX_SPLITS]:
            yield from textwrap.wrap(_split(split), _WIDTH, initial_indent="  ", subsequent_indent="    ")
        if len(splits) > _MAX_SPLITS:
            yield f"  … and {len(splits) - _MAX_SPLITS} more"
    yield from sizes.lines(graphs)
    if findings.times is not None:
        yield ""
        yield from times.lines(findings.times, findings.backend)
    if findings.memory is not None:
        yield ""
        yield from memory.lines(findings.memory, findings.backend)
    eager = findings.eager
    if eager.launches or eager.host_runs:
        yield ""
        yield (
            f"Ops outside clusters: {number(eager.launches, 'launch', 'launches')}, "
            f"{number(eager.host_runs, 'run')} on the CPU, which copied {size(eager.host_bytes)}"
        )
        if eager.host_runs and flags.eager_compile_after() > 0:
            yield "  (an op runs on its CPU kernel until a recipe for its shapes pays: docs/tuning/compile_modes.md)"
        if not graphs:
            yield "  -> put the train step into a tf.function: each eager op is a launch of its own"


def _precision(graphs: Sequence[Sequence[Graph]]) -> Iterator[str]:
    ops = [op for traces in graphs for op in traces[0].ops if op.device.startswith("HPU")]
    for dtype in ("bfloat16", "half"):
        if count := sum(dtype in op.dtypes for op in ops):
            yield f"Precision: {number(count, 'op')} on the HPU with results in {dtype.replace('half', 'float16')}"


def _label(total: RuleTotal) -> str:
    rule = total.rule
    return f"{rule.label} ({rule.value})" if rule.label else rule.value


def _graph_rows(graphs: Sequence[Sequence[Graph]]) -> list[list[str]]:
    largest = sorted(graphs, key=lambda traces: -len(traces[0].ops))[:_MAX_GRAPHS]
    rows = []
    counted: set[tuple[str, int]] = set()
    for traces in largest:
        graph = traces[0]
        own = counted_clusters([graph])
        # Only the first row counts counters that its clusters share with clusters of later rows.
        launches = [cluster.launches for cluster in own if cluster.counter_key not in counted]
        counted.update(cluster.counter_key for cluster in own)
        rows.append(
            [
                shortened(graph.name, 40) + (f" ({len(traces)} traces)" if len(traces) > 1 else ""),
                str(len(graph.ops)),
                str(graph.hpu_ops),
                str(len(graph.clusters)),
                str(graph.clustered_ops),
                str(sum(launches)) if launches or not own else "see above",
            ]
        )
    return rows


def _rule(total: RuleTotal) -> Iterator[str]:
    counts = [number(total.ops, "op")] if total.ops else []
    if total.splits:
        counts.append(number(total.splits, "split"))
    if total.copied_bytes:
        counts.append(f"{size(total.copied_bytes)} copied")
    yield f"  {total.rule.value} ({', '.join(counts)}): {total.rule.meaning}"
    yield f"      -> {total.rule.remedy}"
    for name, op, reason, line in total.examples:
        place = f"{shown_line(line)}: " if line else ""
        text = place + (f"{name} ({op})" if op != name else name) + (f": {reason}" if reason else "")
        yield from textwrap.wrap(
            text,
            _WIDTH,
            initial_indent="      ",
            subsequent_indent="        ",
            break_long_words=False,
            break_on_hyphens=False,
        )


def _split(split: ClusterSplit) -> str:
    shown = ", ".join(split.through[:4])
    more = f" and {len(split.through) - 4} more" if len(split.through) > 4 else ""
    first, second = (shortened(name.replace("habana_cluster_", "", 1), 48) for name in (split.first, split.second))
    return f"{first} | {second}: {split.rule}: {split.reason}" + (f": {shown}{more}" if shown else "")


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole}" + (f" ({100 * part // whole} %)" if whole else "")
