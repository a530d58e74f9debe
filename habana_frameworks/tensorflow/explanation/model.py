"""What an explanation holds. All of it is plain data."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Mapping

from habana_frameworks.tensorflow.explanation import rules
from habana_frameworks.tensorflow.explanation.times import InstructionTime
from habana_frameworks.tensorflow.statistics import Eager

FORMAT = 1
"""Of the JSON: rises when a field changes its meaning or goes away."""


@dataclasses.dataclass(frozen=True)
class Op:
    """One op of a graph, as the graph passes left it, and what became of it at run time."""

    name: str
    type: str
    device: str
    """Short: HPU:0, CPU:0."""
    cluster: str | None
    """The cluster that holds it and runs it."""
    dtypes: tuple[str, ...]
    """Precision: the dtypes of its results."""
    inputs: tuple[int, ...]
    """Positions in Graph.ops, control inputs included."""
    rule: str | None = None
    """What keeps it off the HPU or out of a cluster; see explanation.RULES. None: nothing does."""
    reason: str | None = None
    copied_bytes: int = 0
    """Copied between HPU and CPU because it is where it is, over all runs."""
    copies: int = 0
    host_runs: int = 0
    """Runs by its CPU kernel although it is on the HPU."""
    cuts: int = 0
    """Pairs of clusters that it keeps apart."""


@dataclasses.dataclass(frozen=True)
class Cluster:
    """One cluster of a graph. What counts runs is shared by clusters of the same name and size."""

    name: str
    device: str
    ops: int
    arguments: int
    constants: int
    resources: int
    results: int
    must_compile: bool
    recipes: int = 0
    compile_seconds: float = 0.0
    launches: int = 0
    fallbacks: int = 0
    fallback_bytes: int = 0
    fallback_reasons: Mapping[str, int] = dataclasses.field(default_factory=dict)
    """As statistics.Cluster has them."""
    rule: str | None = None
    """compile-error or the latest of fallback_reasons, if it did not run as it was meant to."""
    reason: str | None = None


@dataclasses.dataclass(frozen=True)
class Cut:
    """Why two clusters are not one."""

    first: str
    second: str
    rule: str
    reason: str
    through: tuple[str, ...] = ()
    """Ops outside that run between them."""


@dataclasses.dataclass(frozen=True)
class Rewrite:
    """An op that a graph pass replaced or changed."""

    node: str
    op: str
    by: str
    what: str


@dataclasses.dataclass(frozen=True)
class Refusal:
    """An op that is not there any more: a loop or branch that was taken apart."""

    node: str
    op: str
    rule: str
    reason: str


@dataclasses.dataclass(frozen=True)
class Graph:
    """One graph that TensorFlow gave to the passes: a tf.function, or what a Session runs."""

    name: str
    function: str
    """With TensorFlow's decoration; empty for a Session's graph."""
    ops: tuple[Op, ...]
    clusters: tuple[Cluster, ...] = ()
    cuts: tuple[Cut, ...] = ()
    rewrites: tuple[Rewrite, ...] = ()
    lowered: tuple[Refusal, ...] = ()
    pass_seconds: Mapping[str, float] = dataclasses.field(default_factory=dict)

    @property
    def hpu_ops(self) -> int:
        return sum(op.device.startswith("HPU") for op in self.ops)

    @property
    def clustered_ops(self) -> int:
        return sum(op.cluster is not None for op in self.ops)

    def op(self, name: str) -> Op:
        """The op of that name; LookupError says which names are near."""
        for op in self.ops:
            if op.name == name:
                return op
        near = [op.name for op in self.ops if name.lower() in op.name.lower()][:5]
        raise LookupError(f"graph {self.name} has no op {name!r}" + (f"; near: {', '.join(near)}" if near else ""))


@dataclasses.dataclass(frozen=True)
class RuleTotal:
    """What one rule did, over all graphs."""

    rule: rules.Rule
    ops: int
    cuts: int
    copied_bytes: int
    examples: tuple[tuple[str, str, str], ...]
    """Some ops: name, type, reason."""


@dataclasses.dataclass(frozen=True)
class Findings:
    """What became of every op of every graph; explanation.Explanation shows it."""

    graphs: tuple[Graph, ...]
    eager: Eager
    dropped_graphs: int = 0
    """Graphs for whose ops there was no room."""
    times: tuple[InstructionTime, ...] | None = None
    """The longest of each cluster first; None unless they were asked for."""

    @property
    def ops(self) -> int:
        return sum(len(graph.ops) for graph in self.graphs)

    @property
    def hpu_ops(self) -> int:
        return sum(graph.hpu_ops for graph in self.graphs)

    @property
    def clustered_ops(self) -> int:
        return sum(graph.clustered_ops for graph in self.graphs)

    def graph(self, name_part: str) -> Graph:
        """The latest graph with `name_part` in its name; LookupError names those there are."""
        for graph in reversed(self.graphs):
            if name_part in graph.name:
                return graph
        raise LookupError(f"no graph of {[graph.name for graph in self.graphs]} has {name_part!r} in its name")

    def rules(self) -> tuple[RuleTotal, ...]:
        """What each rule did: those that cost most first, what is nothing to worry about last."""
        ops: dict[str, list[tuple[str, str, str]]] = collections.defaultdict(list)
        cuts: collections.Counter[str] = collections.Counter()
        copied: collections.Counter[str] = collections.Counter()
        for graph in self.graphs:
            for op in graph.ops:
                if op.rule is not None:
                    ops[op.rule].append((op.name, op.type, op.reason or ""))
                    copied[op.rule] += op.copied_bytes
            for refusal in graph.lowered:
                ops[refusal.rule].append((refusal.node, refusal.op, refusal.reason))
            for cluster in graph.clusters:
                if cluster.rule is not None:
                    copied[cluster.rule] += cluster.fallback_bytes
                    ops[cluster.rule] = ops[cluster.rule] or [(cluster.name, "cluster", cluster.reason or "")]
            cuts.update(cut.rule for cut in graph.cuts)
        totals = [
            RuleTotal(rules.find(rule), len(ops[rule]), cuts[rule], copied[rule], tuple(ops[rule][:3]))
            for rule in {**ops, **cuts}
        ]
        return tuple(sorted(totals, key=lambda t: (t.rule.expected, -t.copied_bytes, -t.cuts, -t.ops, t.rule.name)))
