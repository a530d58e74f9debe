"""Data classes of an explanation."""

from __future__ import annotations

import collections
import dataclasses
import functools
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from habana_frameworks.tensorflow import statistics
from habana_frameworks.tensorflow.explanation import rules
from habana_frameworks.tensorflow.explanation.memory import ClusterMemory
from habana_frameworks.tensorflow.explanation.times import InstructionTime
from habana_frameworks.tensorflow.statistics import Eager

FORMAT = 2
"""Version of the JSON format; increases when a field changes its meaning or is removed."""


@dataclasses.dataclass(frozen=True)
class Op:
    """One op of a graph after the graph passes, with its counters from run time."""

    name: str
    type: str
    device: str
    """Short name: HPU:0, CPU:0."""
    cluster: str | None
    """Name of the op's cluster."""
    dtypes: tuple[str, ...]
    """Dtypes of the results, which show the precision."""
    inputs: tuple[int, ...]
    """Indices into Graph.ops, including control inputs."""
    rule: str | None = None
    """Rule that keeps the op off the HPU or out of a cluster (explanation.RULES); None if no rule does."""
    reason: str | None = None
    copied_bytes: int = 0
    """Bytes copied between HPU and CPU because of the op's placement, over all runs."""
    copies: int = 0
    cpu_runs: int = 0
    """Number of executions by the CPU kernel although the op is on the HPU."""
    splits: int = 0
    """Number of cluster pairs that the op separates."""
    source_line: str | None = None
    """Line of the program that created the op, as "file:line"; None if unknown, as in a Session's graph."""


@dataclasses.dataclass(frozen=True)
class Cluster:
    """One cluster of a graph. Clusters of the same name and size share their counters."""

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
    """Same as in statistics.Cluster, like the next four fields."""
    changing_size: str = ""
    padded_launches: int = 0
    changing_bytes: int = 0
    padded_bytes: int = 0
    rule: str | None = None
    """Latest rule by which the cluster failed to run as intended, such as compile-error or fallback."""
    reason: str | None = None

    @property
    def padding_share(self) -> float:
        """Same as in statistics.Cluster."""
        return statistics.padding_share(self.changing_bytes, self.padded_bytes)

    def counted(self, counters: statistics.Cluster) -> Cluster:
        """Returns the cluster with its counters from run time."""
        fields = {field.name for field in dataclasses.fields(self)}
        values = dataclasses.asdict(counters)
        return dataclasses.replace(self, **{name: value for name, value in values.items() if name in fields})

    @property
    def counter_key(self) -> tuple[str, int]:
        """Identifies the counters, which clusters of the same name and size share."""
        return self.name, self.ops


@dataclasses.dataclass(frozen=True)
class ClusterSplit:
    """Two clusters that were not merged, with the reason."""

    first: str
    second: str
    rule: str
    reason: str
    through: tuple[str, ...] = ()
    """Ops outside clusters that run between the two clusters."""


@dataclasses.dataclass(frozen=True)
class Rewrite:
    """An op that a graph pass replaced or changed."""

    node: str
    op: str
    by: str
    what: str


@dataclasses.dataclass(frozen=True)
class Refusal:
    """A loop or branch that was lowered because of a rule, so no cluster contains it whole."""

    node: str
    op: str
    rule: str
    reason: str
    source_line: str | None = None
    """As in Op."""


@dataclasses.dataclass(frozen=True)
class Graph:
    """One graph: a tf.function or a Session's graph that the passes processed, or a function with jit_compile=True."""

    name: str
    function: str
    """Function name with TensorFlow's prefix and suffix; empty for a Session's graph."""
    ops: tuple[Op, ...]
    clusters: tuple[Cluster, ...] = ()
    splits: tuple[ClusterSplit, ...] = ()
    rewrites: tuple[Rewrite, ...] = ()
    lowered: tuple[Refusal, ...] = ()
    pass_seconds: Mapping[str, float] = dataclasses.field(default_factory=dict)

    @property
    def hpu_ops(self) -> int:
        return sum(op.device.startswith("HPU") for op in self.ops)

    @property
    def clustered_ops(self) -> int:
        return sum(op.cluster is not None for op in self.ops)

    def line_of_cluster(self, name: str) -> str | None:
        """Returns the most frequent source line of a cluster's ops; None if no op has one."""
        lines = collections.Counter(op.source_line for op in self.ops if op.cluster == name and op.source_line)
        return lines.most_common(1)[0][0] if lines else None

    def op(self, name: str) -> Op:
        """Returns the op `name`. Raises LookupError, which lists similar names."""
        for op in self.ops:
            if op.name == name:
                return op
        near = [op.name for op in self.ops if name.lower() in op.name.lower()][:5]
        raise LookupError(f"graph {self.name} has no op {name!r}" + (f"; similar: {', '.join(near)}" if near else ""))


def counted_clusters(graphs: Iterable[Graph]) -> tuple[Cluster, ...]:
    """Returns clusters of the graphs with different counters, for sums: of clusters that share counters, the last."""
    return tuple({cluster.counter_key: cluster for graph in graphs for cluster in graph.clusters}.values())


class Example(NamedTuple):
    """An op to which a rule applies, or a cluster, whose type is "cluster"."""

    name: str
    type: str
    reason: str
    source_line: str | None = None
    """As in Op; the most frequent line of a cluster's ops."""


@dataclasses.dataclass(frozen=True)
class RuleTotal:
    """Total effect of one rule over all graphs."""

    rule: rules.Rule
    ops: int
    splits: int
    copied_bytes: int
    examples: tuple[Example, ...]


@dataclasses.dataclass(frozen=True)
class Findings:
    """Data of all graphs; explanation.Explanation adds text, HTML and JSON output."""

    graphs: tuple[Graph, ...]
    eager: Eager
    dropped_graphs: int = 0
    """Graphs left out because the records were full."""
    times: tuple[InstructionTime, ...] | None = None
    """Longest first within each cluster; None if times were not requested."""
    memory: tuple[ClusterMemory, ...] | None = None
    """The cluster with the most bytes first; None if memory was not requested."""
    backend: str = ""
    """HPU_BACKEND, or the backend of the acquired device; empty if unknown."""

    @functools.cached_property
    def traces(self) -> tuple[tuple[Graph, ...], ...]:
        """The graphs in groups of equal traces of one function.

        Traces are equal if their ops agree in type, dtypes, device, cluster and rule.
        """
        groups: dict[object, list[Graph]] = {}
        for graph in self.graphs:
            groups.setdefault(_content(graph) if graph.function else id(graph), []).append(graph)
        return tuple(map(tuple, groups.values()))

    @property
    def ops(self) -> int:
        """Number of ops; the traces of one group count once, here and below."""
        return sum(len(traces[0].ops) for traces in self.traces)

    @property
    def hpu_ops(self) -> int:
        return sum(traces[0].hpu_ops for traces in self.traces)

    @property
    def clustered_ops(self) -> int:
        return sum(traces[0].clustered_ops for traces in self.traces)

    @property
    def clusters(self) -> int:
        return sum(len(traces[0].clusters) for traces in self.traces)

    def graph(self, name_part: str) -> Graph:
        """Returns the latest graph whose name contains `name_part`. Raises LookupError, which lists all names."""
        for graph in reversed(self.graphs):
            if name_part in graph.name:
                return graph
        raise LookupError(f"no graph name contains {name_part!r}; graphs: {[graph.name for graph in self.graphs]}")

    def rules(self) -> tuple[RuleTotal, ...]:
        """Returns the effect of each rule. The most expensive rule is first; expected rules are last.

        Ops and splits count once for the traces of one group; bytes are sums over the traces.
        """
        ops: dict[str, list[Example]] = collections.defaultdict(list)
        splits: collections.Counter[str] = collections.Counter()
        copied: collections.Counter[str] = collections.Counter()
        for traces in self.traces:
            graph = traces[0]
            for op in graph.ops:
                if op.rule is not None:
                    ops[op.rule].append(Example(op.name, op.type, op.reason or "", op.source_line))
            for refusal in graph.lowered:
                ops[refusal.rule].append(Example(refusal.node, refusal.op, refusal.reason, refusal.source_line))
            splits.update(split.rule for split in graph.splits)
            for op in (op for trace in traces for op in trace.ops):
                if op.rule is not None:
                    copied[op.rule] += op.copied_bytes
            for cluster in (cluster for trace in traces for cluster in trace.clusters):
                if cluster.rule is not None:
                    line = graph.line_of_cluster(cluster.name)
                    example = Example(cluster.name, "cluster", cluster.reason or "", line)
                    ops[cluster.rule] = ops[cluster.rule] or [example]
        for cluster in counted_clusters(self.graphs):
            if cluster.rule is not None:
                copied[cluster.rule] += cluster.fallback_bytes
        totals = [
            RuleTotal(rules.find(rule), len(ops[rule]), splits[rule], copied[rule], _distinct(ops[rule])[:3])
            for rule in {**ops, **splits}
        ]
        return tuple(sorted(totals, key=lambda t: (t.rule.expected, -t.copied_bytes, -t.splits, -t.ops, t.rule.value)))


def _distinct(examples: Iterable[Example]) -> tuple[Example, ...]:
    """Returns the first example of each line and reason. Omits examples without a line if another has their reason."""
    first: dict[tuple[str | None, str], Example] = {}
    for example in examples:
        first.setdefault((example.source_line, example.reason), example)
    with_line = {reason for line, reason in first if line is not None}
    return tuple(first[line, reason] for line, reason in first if line is not None or reason not in with_line)


def _content(graph: Graph) -> tuple[object, ...]:
    """Returns a key that is equal for two traces of one function if the passes treated both alike.

    Omits the names of ops, which can contain numbers that are unique in the process.
    """
    ops = collections.Counter((op.type, op.device, op.cluster, op.rule, op.dtypes) for op in graph.ops)
    clusters = frozenset(cluster.counter_key for cluster in graph.clusters)
    return graph.name, frozenset(ops.items()), clusters
