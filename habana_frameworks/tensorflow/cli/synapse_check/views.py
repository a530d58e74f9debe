"""Prints the report of `hpu synapse-check` as a table, and as the text file to send."""

from __future__ import annotations

from collections.abc import Iterator

from habana_frameworks.tensorflow._internal.version import __version__
from habana_frameworks.tensorflow.cli.checks import Level
from habana_frameworks.tensorflow.cli.synapse_check.report import Graph, Outcome, Report

_OUTCOME_WIDTH = max(len(outcome.value) for outcome in Outcome)


def table_lines(report: Report) -> Iterator[str]:
    """Yields versions, one line for each guid and outcome with the types, the programs, and the totals."""
    yield from _heading(report)
    yield ""
    rows: dict[tuple[str, Outcome], list[Graph]] = {}
    for graph in report.graphs:
        rows.setdefault((graph.stem or graph.name, graph.outcome), []).append(graph)
    width = max((len(name) for name, _ in rows), default=0)
    for (name, outcome), graphs in rows.items():
        types = ", ".join(graph.type for graph in graphs if graph.type)
        yield f"  {name:<{width}}  {outcome.value:<{_OUTCOME_WIDTH}}  {types}".rstrip()
        for reason in dict.fromkeys(graph.reason for graph in graphs if graph.reason):
            yield f"  {'':{width}}  -> {reason}"
    yield ""
    yield _totals(report)


def file_lines(report: Report) -> Iterator[str]:
    """Yields versions, totals, and each graph that is not ok with its reason, the library's output and its plan."""
    yield f"hpu-tensorflow {__version__}"
    yield from _heading(report)
    yield _totals(report)
    for graph in report.graphs:
        if graph.outcome is not Outcome.OK:
            yield from _details(graph)


def _heading(report: Report) -> Iterator[str]:
    library = report.library
    yield f"SynapseAI {library.version} (profile {library.profile}), {library.path}, for {library.generation}"
    yield f"target: {library.target}"
    yield f"missing functions: {', '.join(library.missing_functions) or 'none'}"
    for finding in report.findings:
        if finding.level is not Level.OK:
            yield f"{finding.subject}: {finding.text}" + (f"; {finding.remedy}" if finding.remedy else "")


def _totals(report: Report) -> str:
    counts = ", ".join(f"{count} {outcome.value}" for outcome, count in report.totals().items())
    return f"{len(report.graphs)} graphs: {counts}"


def _details(graph: Graph) -> Iterator[str]:
    yield ""
    yield f"{graph.name}: {graph.outcome.value}"
    for title, text in (("reason", graph.reason), ("output", graph.log), ("plan", graph.plan)):
        for line in text.splitlines():
            yield f"  {title}: {line}"
