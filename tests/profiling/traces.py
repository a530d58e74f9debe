"""Readers of trace files and profiles."""

from __future__ import annotations

import dataclasses
import json
import pathlib
from typing import Any

PLANE = "/device:CUSTOM:HPU:0"


@dataclasses.dataclass(frozen=True)
class Event:
    """One event of a trace. Times are in nanoseconds on one clock."""

    lane: str
    name: str
    begin: float
    end: float
    stats: dict[str, Any]

    @property
    def duration(self) -> float:
        return self.end - self.begin

    def contains(self, other: Event) -> bool:
        return self.begin <= other.begin and other.end <= self.end

    def overlaps(self, other: Event) -> bool:
        return self.begin < other.end and other.begin < self.end


def read_chrome(path: pathlib.Path) -> list[Event]:
    """Returns the spans and instants of a trace file."""
    records = json.loads(path.read_text())["traceEvents"]
    lanes = {record["tid"]: record["args"]["name"] for record in records if record["name"] == "thread_name"}
    return [
        Event(
            lanes[record["tid"]],
            record["name"],
            record["ts"] * 1e3,
            (record["ts"] + record.get("dur", 0)) * 1e3,
            record["args"],
        )
        for record in records
        if record["ph"] != "M"
    ]


def read_space(directory: pathlib.Path) -> Any:
    """Returns the XSpace of the only profile under a log directory."""
    from tensorflow.tsl.profiler.protobuf import xplane_pb2

    (path,) = directory.glob("plugins/profile/*/*.xplane.pb")
    return xplane_pb2.XSpace.FromString(path.read_bytes())


def read_profile(directory: pathlib.Path) -> list[Event]:
    """Returns the HPU plane of the only profile under a log directory."""
    space = read_space(directory)
    (plane,) = [plane for plane in space.planes if plane.name == PLANE]
    # TensorBoard's trace viewer merges planes with equal ids.
    assert all(other.id != plane.id for other in space.planes if other.name != PLANE)
    return events_of(plane)


def events_of(plane: Any) -> list[Event]:
    """Returns the events of an XPlane."""
    events = []
    for line in plane.lines:
        for event in line.events:
            metadata = plane.event_metadata[event.metadata_id]
            all_stats = (*metadata.stats, *event.stats)
            stats = {plane.stat_metadata[stat.metadata_id].name: _value(stat) for stat in all_stats}
            begin = line.timestamp_ns + event.offset_ps / 1e3
            events.append(Event(line.name, metadata.name, begin, begin + event.duration_ps / 1e3, stats))
    return events


def _value(stat: Any) -> Any:
    return getattr(stat, stat.WhichOneof("value"))


def of_lane(events: list[Event], lane: str) -> list[Event]:
    """Returns the events in one lane of the trace."""
    return [event for event in events if event.lane == lane]
