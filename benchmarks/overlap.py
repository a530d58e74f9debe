"""How much of the time in which workers exchange data the device computes meanwhile, read from a trace file."""

from __future__ import annotations

import json
import pathlib

Interval = tuple[float, float]


def joined(intervals: list[Interval]) -> list[Interval]:
    """The same time as intervals that are apart, in order."""
    result: list[Interval] = []
    for begin, end in sorted(intervals):
        if result and begin <= result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((begin, end))
    return result


def common(one: list[Interval], other: list[Interval]) -> float:
    """Length of the time that is in both."""
    return sum(max(0.0, min(a[1], b[1]) - max(a[0], b[0])) for a in joined(one) for b in joined(other))


def hidden_share(trace: pathlib.Path) -> float:
    """Of a trace of docs/tuning/profiling.md: the part of the collectives' time in which clusters run, from 0 to 1."""
    events = json.loads(trace.read_text())["traceEvents"]
    lanes = {event["args"]["name"]: event["tid"] for event in events if event["name"] == "thread_name"}
    timed = [event for event in events if event["ph"] == "X"]
    spans = {
        name: [(event["ts"], event["ts"] + event["dur"]) for event in timed if event["tid"] == lane]
        for name, lane in lanes.items()
    }
    collectives = spans["Collectives"]
    return common(collectives, spans["Compute"]) / sum(end - begin for begin, end in joined(collectives))
