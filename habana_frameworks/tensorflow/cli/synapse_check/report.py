"""Result of `hpu synapse-check`."""

from __future__ import annotations

import collections
import dataclasses
import enum

from habana_frameworks.tensorflow.cli.checks import Finding


class Outcome(enum.Enum):
    """Outcome of a graph: SynapseGraph.Outcome of report.proto, and CRASHED."""

    RUNNING = "running"
    OK = "ok"
    REFUSED = "refused"
    NOT_IN_RELEASE = "not in this release"
    NO_EXAMPLE = "no example"
    NOT_LOWERED = "no nodes"
    NO_PROGRAM = "no program"
    CRASHED = "crashed"
    """The process ended, or the graph exceeded the time limit."""


FAILURES = (Outcome.REFUSED, Outcome.CRASHED, Outcome.NO_PROGRAM)
"""Outcomes that make the check fail."""


@dataclasses.dataclass(frozen=True)
class Library:
    """SynapseAI's library; fields of SynapseLibrary in report.proto."""

    path: str
    version: str
    profile: str
    generation: str
    target: str
    missing_functions: tuple[str, ...]
    graphs: int


@dataclasses.dataclass(frozen=True)
class Graph:
    """A graph of a node or of a program; fields of SynapseGraph in report.proto."""

    index: int
    stem: str
    type: str
    name: str
    plan: str
    outcome: Outcome
    reason: str
    log: str = ""
    """Lines that the library wrote to stderr."""


@dataclasses.dataclass(frozen=True)
class Report:
    """Outcomes of all graphs. `findings`: checks of the library and of its kernels."""

    library: Library
    findings: tuple[Finding, ...]
    graphs: tuple[Graph, ...]

    def failures(self) -> list[Graph]:
        return [graph for graph in self.graphs if graph.outcome in FAILURES]

    def totals(self) -> dict[Outcome, int]:
        """Returns the number of graphs of each outcome that occurs."""
        return dict(collections.Counter(graph.outcome for graph in self.graphs))
