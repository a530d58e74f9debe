"""Divides the run time into clusters, copies, compiles, waits for input and the rest."""

from __future__ import annotations

import collections
from collections.abc import Iterable, Sequence, Set

from habana_frameworks.tensorflow.cli.report.events import Event, Interval, Lane, Trace, length, union
from habana_frameworks.tensorflow.cli.report.host_profile import HostEvents
from habana_frameworks.tensorflow.cli.report.model import Steps, TimeShare

HOST = "Python, TensorFlow and ops on the CPU"
_MAX_CLUSTERS = 8
_LANES = (
    ("collective", Lane.COLLECTIVE),
    ("copy", Lane.COPY_TO_DEVICE),
    ("copy", Lane.COPY_TO_HOST),
    ("copy", Lane.COPY_ON_DEVICE),
    ("compile", Lane.COMPILE),
    ("cpu", Lane.CPU_FALLBACK),
)


class _Divider:
    """Assigns each moment from 0 to `seconds` (positive) to the first part that covers it."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._covered: list[Interval] = []

    def add(self, kind: str, name: str, intervals: Sequence[Interval], size: int = 0) -> TimeShare:
        """Adds a part. Its time excludes moments that earlier parts cover. `size`: bytes of the part's events."""
        own = union((max(begin, 0.0), min(end, self._seconds)) for begin, end in intervals)
        before = length(self._covered)
        self._covered = union([*self._covered, *own])
        seconds = length(self._covered) - before
        return TimeShare(kind, name, seconds, seconds / self._seconds, len(intervals), length(own), size)

    def rest(self, kind: str, name: str) -> TimeShare:
        """Returns the part for all moments that no part covers."""
        seconds = self._seconds - length(self._covered)
        return TimeShare(kind, name, seconds, seconds / self._seconds)


def divide(trace: Trace, host: HostEvents | None, clusters: Set[str], seconds: float) -> tuple[TimeShare, ...]:
    """Divides the run time.

    A moment counts for the first of these that is active: launch of a recipe, collective, copy, compile, CPU fallback,
    wait for input, tracing of a tf.function. All other moments are the host's.

    host: None if unknown.
    clusters: names of clusters; all other launches are ops outside clusters.
    """
    divider = _Divider(seconds)
    parts = []
    launches: dict[str, list[Event]] = collections.defaultdict(list)
    for event in trace.of(Lane.COMPUTE):
        launches[event.name if event.name in clusters else ""].append(event)
    eager = launches.pop("", [])
    ordered = sorted(launches.items(), key=lambda item: -length(map(_interval, item[1])))
    for name, events in ordered[:_MAX_CLUSTERS]:
        parts.append(divider.add("cluster", name, _intervals(events)))
    if ordered[_MAX_CLUSTERS:]:
        others = [event for _, events in ordered[_MAX_CLUSTERS:] for event in events]
        parts.append(divider.add("cluster", f"{len(ordered) - _MAX_CLUSTERS} other clusters", _intervals(others)))
    if eager:
        parts.append(divider.add("eager", "ops outside clusters", _intervals(eager)))
    for kind, lane in _LANES:
        events = list(trace.of(lane))
        if events:
            parts.append(divider.add(kind, lane.value, _intervals(events), sum(event.bytes for event in events)))
    if host is not None:
        parts.append(divider.add("input", "Waits for input", host.waits))
        parts.append(divider.add("tracing", "Tracing of tf.functions", host.tracing))
    return (*parts, divider.rest("host", HOST))


def find_steps(trace: Trace, clusters: Set[str]) -> Steps | None:
    """Returns the executions of the cluster with the most time; None if no cluster was executed.

    A cluster that was executed once is chosen only if none was executed more often.
    """
    executions: dict[str, list[Event]] = collections.defaultdict(list)
    for event in trace.of(Lane.COMPUTE, Lane.CPU_FALLBACK):
        if event.name in clusters:
            executions[event.name].append(event)
    if not executions:
        return None
    name, events = max(executions.items(), key=lambda item: (len(item[1]) > 1, length(map(_interval, item[1]))))
    events = sorted(events, key=lambda event: event.begin)
    begins = tuple(event.begin for event in events)
    launches = sum(event.lane is Lane.COMPUTE for event in events)
    return Steps(
        cluster=name,
        launches=launches,
        fallbacks=len(events) - launches,
        begins=begins,
        seconds=tuple(after - before for before, after in zip(begins, begins[1:])),
        device_seconds=tuple(event.end - event.begin for event in events),
    )


def _interval(event: Event) -> Interval:
    return event.begin, event.end


def _intervals(events: Iterable[Event]) -> list[Interval]:
    return [_interval(event) for event in events]
