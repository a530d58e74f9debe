"""Events on the HPU during a run, from the trace that docs/tuning/profiling.md describes."""

from __future__ import annotations

import dataclasses
import enum
import json
from collections.abc import Iterable


class Lane(enum.Enum):
    """Rows of a trace, by the names in the trace (plugin/base/trace/trace.cc)."""

    COMPUTE = "Compute"
    INSTRUCTION = "XLA Ops"
    COPY_TO_DEVICE = "Copies to the device"
    COPY_TO_HOST = "Copies to the host"
    COPY_ON_DEVICE = "Copies on the device"
    COMPILE = "Compiles"
    COLLECTIVE = "Collectives"
    CPU_FALLBACK = "Runs on the CPU instead"
    MARK = "Marks"


@dataclasses.dataclass(frozen=True)
class Event:
    """One event. Times are in seconds since the start of the run."""

    lane: Lane
    name: str
    begin: float
    end: float
    bytes: int = 0


@dataclasses.dataclass(frozen=True)
class Trace:
    """Events sorted by their begin, and the number of events that did not fit the trace's buffers."""

    events: tuple[Event, ...]
    dropped: int

    def of(self, *lanes: Lane) -> tuple[Event, ...]:
        """Returns the events of these lanes."""
        return tuple(event for event in self.events if event.lane in lanes)


Interval = tuple[float, float]
"""Begin and end in seconds."""


def parse(trace: bytes, start_ns: int) -> Trace:
    """Parses a trace of device_trace.Recording. `start_ns`: start of the run, as time.time_ns()."""
    data = json.loads(trace)
    records = data["traceEvents"]
    lanes = {record["tid"]: Lane(record["args"]["name"]) for record in records if record["name"] == "thread_name"}
    events = []
    for record in records:
        if record["ph"] == "M":
            continue
        begin = record["ts"] / 1e6 - start_ns / 1e9
        end = begin + record.get("dur", 0) / 1e6
        events.append(Event(lanes[record["tid"]], record["name"], begin, end, record["args"].get("bytes", 0)))
    return Trace(tuple(events), data["otherData"]["dropped"])


def union(intervals: Iterable[Interval]) -> list[Interval]:
    """Returns the sorted disjoint intervals that cover the same moments."""
    merged: list[Interval] = []
    for begin, end in sorted(intervals):
        if merged and begin <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        elif end > begin:
            merged.append((begin, end))
    return merged


def length(intervals: Iterable[Interval]) -> float:
    """Returns the total length of disjoint intervals."""
    return sum(end - begin for begin, end in intervals)
