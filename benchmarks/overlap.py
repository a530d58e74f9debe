"""Share of the collectives' time that overlaps with computation, read from a trace file."""

from __future__ import annotations

import json
import pathlib

Interval = tuple[float, float]


def joined(intervals: list[Interval]) -> list[Interval]:
    """Merges overlapping intervals and sorts them."""
    result: list[Interval] = []
    for begin, end in sorted(intervals):
        if result and begin <= result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((begin, end))
    return result


def common(one: list[Interval], other: list[Interval]) -> float:
    """Returns the length of the intersection."""
    return sum(max(0.0, min(a[1], b[1]) - max(a[0], b[0])) for a in joined(one) for b in joined(other))


def hidden_share(trace: pathlib.Path) -> float:
    """Share of the collectives' time during which clusters run, from 0 to 1, in a trace (docs/tuning/profiling.md)."""
    events = json.loads(trace.read_text())["traceEvents"]
    lanes = {event["args"]["name"]: event["tid"] for event in events if event["name"] == "thread_name"}
    timed = [event for event in events if event["ph"] == "X"]
    spans = {
        name: [(event["ts"], event["ts"] + event["dur"]) for event in timed if event["tid"] == lane]
        for name, lane in lanes.items()
    }
    collectives = spans["Collectives"]
    return common(collectives, spans["Compute"]) / sum(end - begin for begin, end in joined(collectives))
