"""Builds an Explanation from the plugin's records (hpu_op_records in plugin/c_api/c_api.h)."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from habana_frameworks.tensorflow import habana_device, statistics
from habana_frameworks.tensorflow._internal.native import c_api, plugin_library
from habana_frameworks.tensorflow.explanation import memory, times
from habana_frameworks.tensorflow.explanation.compiled_functions import CompiledFunctions
from habana_frameworks.tensorflow.explanation.explanation import Explanation
from habana_frameworks.tensorflow.explanation.model import Cluster, ClusterSplit, Graph, Op, Refusal, Rewrite
from habana_frameworks.tensorflow.explanation.rules import Rule
from habana_frameworks.tensorflow.explanation.source_lines import SourceLines

if TYPE_CHECKING:
    from habana_frameworks.tensorflow._internal.messages import report_pb2

_MAX_REASON = 400
# Ops that return the next element of a dataset.
_GET_NEXT = frozenset(
    ("IteratorGetNext", "IteratorGetNextAsOptional", "IteratorGetNextSync", "MultiDeviceIteratorGetNextFromShard")
)
# Functions in which tf.data's prefetch_to_device calls the dataset on the host. The program does not contain them.
_OF_PREFETCHING = frozenset(("_remote_init_func", "_remote_next_func", "_remote_finalize_func"))
_CHECK = "/habana_check/"  # in the names of the ops of a check (plugin/passes/clustering/value_check_pass.cc)


class Collector:
    """Records ops from start() to stop(). Use one at a time, because the plugin has only one set of records."""

    def __init__(self, with_times: bool = False, with_memory: bool = False) -> None:
        """with_times: time every instruction of the recipes created after start().

        with_memory: include the device memory of all recipes of the process.
        """
        self._before: statistics.Statistics | None = None
        self._with_times = with_times
        self._with_memory = with_memory
        self._compiled_functions = CompiledFunctions()
        self._source_lines = SourceLines(self._compiled_functions.keep)

    def start(self) -> None:
        """Starts recording the graphs that TensorFlow optimises. Loads the module if necessary."""
        if self._with_times:
            times.measure()
        self._before = statistics.get()
        self._source_lines.start()
        _collect(True)

    def stop(self) -> Explanation:
        """Stops recording and returns the explanation. Raises RuntimeError without start()."""
        if self._before is None:
            raise RuntimeError("Collector.stop() was called before start(): call start() first")
        _collect(False)
        self._source_lines.stop()
        records = c_api.read_message(plugin_library.handle(), "hpu_op_records", "OpRecords")
        counts = difference(statistics.get(), self._before)
        explanation = build(records, counts, self._source_lines)
        compiled = self._compiled_functions.graphs(counts.clusters, self._source_lines)
        explanation = dataclasses.replace(
            explanation,
            graphs=(*explanation.graphs, *compiled),
            backend=habana_device.info().get("backend", ""),
        )
        if self._with_memory:
            lines = {(op.cluster, op.name): op.source_line for graph in explanation.graphs for op in graph.ops}

            def find_line(cluster: str, op: str) -> str | None:
                return lines.get((cluster, op)) or self._source_lines.find_in_any(op)

            explanation = dataclasses.replace(explanation, memory=memory.collect(find_line))
        return dataclasses.replace(explanation, times=times.collect()) if self._with_times else explanation


def _collect(on: bool) -> None:
    c_api.function(plugin_library.handle(), "hpu_collect_op_records")(on)


def difference(after: statistics.Statistics, before: statistics.Statistics) -> statistics.Statistics:
    """Returns `after` with the counters of its clusters and eager ops reduced by their values in `before`.

    A cluster with a counter that has decreased was reset in between; its counters are not reduced.
    """
    old = {(cluster.name, cluster.ops): cluster for cluster in before.clusters}
    clusters = tuple(_subtract(cluster, old.get((cluster.name, cluster.ops))) for cluster in after.clusters)
    return dataclasses.replace(after, clusters=clusters, eager=_subtract(after.eager, before.eager))


def _subtract(after: Any, before: Any) -> Any:
    if before is None:
        return after
    values = {field.name: getattr(after, field.name) for field in dataclasses.fields(after)}
    counters = {name: value for name, value in values.items() if isinstance(value, (int, float)) and name != "ops"}
    changed = {name: value - getattr(before, name) for name, value in counters.items()}
    return after if any(value < 0 for value in changed.values()) else dataclasses.replace(after, **changed)


def build(
    records: report_pb2.OpRecords, counts: statistics.Statistics, source_lines: SourceLines | None = None
) -> Explanation:
    """Builds the explanation from records, statistics and source lines of the same period."""
    source_lines = source_lines or SourceLines()
    copies = _copies(records.transfers, records.copies)
    cpu_runs = {(entry.record, entry.name): _Copied(entry.times, entry.bytes) for entry in records.cpu_runs}
    failures: dict[int, list[report_pb2.ClusterFailure]] = collections.defaultdict(list)
    for failure in records.failures:
        failures[failure.record].append(failure)
    lowered: dict[str, list[Refusal]] = collections.defaultdict(list)
    rewritten: dict[str, list[Rewrite]] = collections.defaultdict(list)
    graphs = []
    for report in records.graphs:
        if report.graph in _OF_PREFETCHING:
            continue
        # Reports of narrowing, which precedes placement, have no function.
        rewritten[report.graph] += [Rewrite(r.node, r.op, r.pass_name, r.what) for r in report.rewrites]
        if not report.ops:  # report of a pass before placement (lowering, narrowing); the graph's own report follows
            lowered[report.function] += [
                Refusal(r.node, r.op, r.rule, r.reason, source_lines.find(report.function, r.node))
                for r in report.refusals
            ]
            continue
        builder = _GraphBuilder(report, copies, cpu_runs, failures[report.record], counts.clusters, source_lines)
        graphs.append(builder.build(lowered.pop(report.function, []), rewritten.pop(report.graph)))
    return Explanation(tuple(graphs), counts.eager, records.dropped)


@dataclasses.dataclass
class _Copied:
    times: int = 0
    bytes: int = 0


def _copies(
    transfers: Iterable[report_pb2.HostDeviceTransfer], counts: Iterable[report_pb2.CopyCount]
) -> dict[tuple[int, str], _Copied]:
    """Sums the copies to and from each node, by record and node. A tensor counts only for its first consumer."""
    counted = {(entry.record, entry.name): entry for entry in counts}
    copied: dict[tuple[int, str], _Copied] = collections.defaultdict(_Copied)
    for transfer in transfers:
        entry = counted.get((transfer.record, transfer.key))
        if entry is None:  # the tensor stays in host memory (int32, strings), or was never copied
            continue
        for node in (transfer.source, *transfer.to[:1]):
            total = copied[transfer.record, node]
            total.times += entry.times
            total.bytes += entry.bytes
    return copied


class _GraphBuilder:
    def __init__(
        self,
        report: report_pb2.GraphReport,
        copies: Mapping[tuple[int, str], _Copied],
        cpu_runs: Mapping[tuple[int, str], _Copied],
        failures: Sequence[report_pb2.ClusterFailure],
        counts: Sequence[statistics.Cluster],
        source_lines: SourceLines,
    ) -> None:
        self._report = report
        self._record = report.record
        self._copies = copies
        self._cpu_runs = cpu_runs
        self._source_lines = source_lines
        self._counts = {(cluster.name, cluster.ops): cluster for cluster in counts}
        self._splits = collections.Counter(name for split in report.splits for name in split.through)
        self._failures = {failure.cluster: failure for failure in failures}

    def build(self, lowered: list[Refusal], rewritten: list[Rewrite]) -> Graph:
        report = self._report
        return Graph(
            name=report.graph,
            function=report.function,
            ops=tuple(map(self._op, report.ops)),
            clusters=tuple(map(self._cluster, report.clusters)),
            splits=tuple(
                ClusterSplit(split.first, split.second, split.rule, split.reason, tuple(split.through))
                for split in report.splits
            ),
            rewrites=tuple(rewritten),
            lowered=tuple(lowered),
            pass_seconds={entry.pass_name: entry.seconds for entry in report.times},
        )

    def _op(self, record: report_pb2.OpRecord) -> Op:
        name, cluster = record.node, record.cluster or None
        rule, reason = _rule(record)
        failure = self._failures.get(cluster or "")
        if failure is not None and failure.rule == Rule.FALLBACK:
            rule, reason = Rule.FALLBACK, failure.reason
        elif failure is not None and name in failure.nodes:
            rule, reason, cluster = Rule.COMPILE_ERROR, f"was moved out of {cluster}: {failure.reason}", None
        on_hpu = "device:HPU" in record.device
        # A copy between a cluster and an op on the CPU is attributed to the op on the CPU.
        copied = _Copied() if on_hpu else self._copies.get((self._record, name), _Copied())
        on_cpu = self._cpu_runs.get((self._record, name), _Copied())
        return Op(
            name=name,
            type=record.op,
            device=_short(record.device),
            cluster=cluster,
            dtypes=tuple(record.dtypes),
            inputs=tuple(record.inputs),
            rule=rule or None,
            reason=_shortened(reason) or None,
            copied_bytes=copied.bytes + on_cpu.bytes,
            copies=copied.times,
            cpu_runs=on_cpu.times,
            splits=self._splits[name],
            source_line=self._source_lines.find(self._report.function, name),
        )

    def _cluster(self, record: report_pb2.Cluster) -> Cluster:
        fields = {field.name for field in dataclasses.fields(Cluster)}
        values = {field.name: getattr(record, field.name) for field in record.DESCRIPTOR.fields if field.name in fields}
        failure = self._failures.get(record.name)
        if failure is not None:
            values.update(rule=failure.rule, reason=_shortened(failure.reason) or None)
        cluster = Cluster(**{**values, "device": _short(record.device)})
        counters = self._counts.get((record.name, record.ops))
        return cluster if counters is None else cluster.counted(counters)


def _rule(record: report_pb2.OpRecord) -> tuple[str, str]:
    """Rule and reason of an op. Names the cause of `neighbours` and `pinned` where the op's type or name shows it.

    TensorFlow itself pins a captured iterator's ops to the iterator's device. The value checks that passes add run on
    the host, because the values are in host memory.
    """
    if record.rule in (Rule.NEIGHBOURS, Rule.PINNED) and record.op in _GET_NEXT:
        return Rule.INPUT_PIPELINE, "returns a batch in host memory"
    if record.rule == Rule.UNCOMPILABLE and record.op in _GET_NEXT:
        return Rule.PREFETCHED, "returns a batch in device memory"
    if record.rule == Rule.RESOURCE_HANDLE and record.op == "VarHandleOp":
        return Rule.BORDER, "is a variable of the graph"
    # String constants are usually messages of TensorFlow's own assertions. Ops that use strings have their own rule.
    if record.rule in (Rule.NEIGHBOURS, Rule.STRING) and record.op == "Const":
        return Rule.CONSTANT, "is a constant for an op on the CPU"
    # A check of a cluster's results moves to the device after the rules for clusters, with its constants.
    if record.rule in (Rule.NEIGHBOURS, Rule.UNKNOWN) and _CHECK in record.node:
        return Rule.HOST, "checks values on behalf of clusters"
    return record.rule, record.reason


def _short(device: str) -> str:
    return device.rpartition("device:")[2]


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _MAX_REASON else line[: _MAX_REASON - 1] + "…"
