"""Builds an Explanation from the plugin's records (hpu_op_records in plugin/c_api/c_api.h)."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from habana_frameworks.tensorflow import statistics
from habana_frameworks.tensorflow._internal.native import c_api, plugin_library
from habana_frameworks.tensorflow.explanation import times
from habana_frameworks.tensorflow.explanation.explanation import Explanation
from habana_frameworks.tensorflow.explanation.model import Cluster, Cut, Graph, Op, Refusal, Rewrite

_MAX_REASON = 400


class Collector:
    """Records ops from start() to stop(). Use one at a time, because the plugin has only one set of records."""

    def __init__(self, with_times: bool = False) -> None:
        """with_times: time every instruction of the recipes created after start()."""
        self._before: statistics.Statistics | None = None
        self._with_times = with_times

    def start(self) -> None:
        """Starts recording the graphs that TensorFlow optimises. Loads the module if necessary."""
        if self._with_times:
            times.measure()
        self._before = statistics.get()
        _collect(True)

    def stop(self) -> Explanation:
        """Stops recording and returns the explanation. Raises RuntimeError without start()."""
        if self._before is None:
            raise RuntimeError("start() comes before stop()")
        _collect(False)
        records = c_api.read_json(plugin_library.handle(), "hpu_op_records")
        explanation = build(records, difference(statistics.get(), self._before))
        return dataclasses.replace(explanation, times=times.collect()) if self._with_times else explanation


def _collect(on: bool) -> None:
    c_api.function(plugin_library.handle(), "hpu_collect_op_records")(on)


def difference(after: statistics.Statistics, before: statistics.Statistics) -> statistics.Statistics:
    """Subtracts two readings of the counters. A counter that was reset in between counts from the reset."""
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


def build(records: Mapping[str, Any], counts: statistics.Statistics) -> Explanation:
    """Builds the explanation from records and statistics of the same period."""
    copies = _copies(records["crossings"], records["copies"])
    host_runs = {(entry["record"], entry["name"]): entry for entry in records["host_runs"]}
    failures: dict[int, list[Mapping[str, Any]]] = collections.defaultdict(list)
    for failure in records["failures"]:
        failures[failure["record"]].append(failure)
    lowered: dict[str, list[Refusal]] = collections.defaultdict(list)
    graphs = []
    for report in records["graphs"]:
        if "ops" not in report:  # report of the pass that lowers control flow; the graph's own report follows
            lowered[report["function"]] += [Refusal(**refusal) for refusal in report["refusals"]]
            continue
        builder = _GraphBuilder(report, copies, host_runs, failures[report["record"]], counts.clusters)
        graphs.append(builder.build(lowered.pop(report["function"], [])))
    return Explanation(tuple(graphs), counts.eager, records["dropped"])


@dataclasses.dataclass
class _Copied:
    times: int = 0
    bytes: int = 0


def _copies(
    crossings: Iterable[Mapping[str, Any]], counts: Iterable[Mapping[str, Any]]
) -> dict[tuple[int, str], _Copied]:
    """Copies to and from each node, by record and node. A tensor with several consumers counts once, for the first."""
    counted = {(entry["record"], entry["name"]): entry for entry in counts}
    copied: dict[tuple[int, str], _Copied] = collections.defaultdict(_Copied)
    for crossing in crossings:
        entry = counted.get((crossing["record"], crossing["key"]))
        if entry is None:  # the tensor stays in host memory (int32, strings), or it was never copied
            continue
        for node in (crossing["from"], *crossing["to"][:1]):
            total = copied[crossing["record"], node]
            total.times += entry["times"]
            total.bytes += entry["bytes"]
    return copied


class _GraphBuilder:
    def __init__(
        self,
        report: Mapping[str, Any],
        copies: Mapping[tuple[int, str], _Copied],
        host_runs: Mapping[tuple[int, str], Mapping[str, Any]],
        failures: Sequence[Mapping[str, Any]],
        counts: Sequence[statistics.Cluster],
    ) -> None:
        self._report = report
        self._record = report["record"]
        self._copies = copies
        self._host_runs = host_runs
        self._counts = {(cluster.name, cluster.ops): cluster for cluster in counts}
        self._cuts = collections.Counter(name for cut in report["gaps"] for name in cut["through"])
        self._failures = {failure["cluster"]: failure for failure in failures}

    def build(self, lowered: list[Refusal]) -> Graph:
        report = self._report
        return Graph(
            name=report["graph"],
            function=report["function"],
            ops=tuple(self._op(op) for op in report["ops"]),
            clusters=tuple(self._cluster(cluster) for cluster in report["clusters"]),
            cuts=tuple(Cut(**{**cut, "through": tuple(cut["through"])}) for cut in report["gaps"]),
            rewrites=tuple(Rewrite(r["node"], r["op"], r["pass"], r["what"]) for r in report["rewrites"]),
            lowered=tuple(lowered),
            pass_seconds={entry["pass"]: entry["seconds"] for entry in report["times"]},
        )

    def _op(self, data: Mapping[str, Any]) -> Op:
        name, rule, reason, cluster = data["node"], data["rule"], data["reason"], data["cluster"] or None
        failure = self._failures.get(cluster or "")
        if failure is not None and failure["rule"] == "fallback":
            rule, reason = "fallback", failure["reason"]
        elif failure is not None and name in failure["nodes"]:
            rule, reason, cluster = "compile-error", f"was put out of {cluster}: {failure['reason']}", None
        on_hpu = "device:HPU" in data["device"]
        # A copy between a cluster and an op on the CPU is attributed to the op on the CPU.
        copied = _Copied() if on_hpu else self._copies.get((self._record, name), _Copied())
        host = self._host_runs.get((self._record, name), {"times": 0, "bytes": 0})
        return Op(
            name=name,
            type=data["op"],
            device=data["device"].rpartition("device:")[2],
            cluster=cluster,
            dtypes=tuple(data["dtypes"]),
            inputs=tuple(data["inputs"]),
            rule=rule or None,
            reason=_shortened(reason) or None,
            copied_bytes=copied.bytes + host["bytes"],
            copies=copied.times,
            host_runs=host["times"],
            cuts=self._cuts[name],
        )

    def _cluster(self, data: Mapping[str, Any]) -> Cluster:
        fields = {field.name for field in dataclasses.fields(Cluster)}
        values = {name: value for name, value in data.items() if name in fields}
        counts = self._counts.get((data["name"], data["ops"]))
        if counts is not None:
            values.update({name: value for name, value in dataclasses.asdict(counts).items() if name in fields})
        failure = self._failures.get(data["name"])
        if failure is not None:
            values.update(rule=failure["rule"], reason=_shortened(failure["reason"]))
        return Cluster(**{**values, "device": data["device"].rpartition("device:")[2]})


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _MAX_REASON else line[: _MAX_REASON - 1] + "…"
