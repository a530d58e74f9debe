"""Check 10: a trace of three train steps has the launches, and the device's own events on the same clock."""

from __future__ import annotations

import collections
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

from benchmarks.models import PROBLEMS, Trainer
from habana_frameworks.tensorflow import load_habana_module
from tests.profiling import traces
from tools.accelerator.checks import outcome

_STEPS = 3
# Prefix of the planes that a plugin's profiler records with CUPTI.
_CARD = "/device:GPU:"
# Accepted time between the launches and an event of the card, in nanoseconds. Other clocks differ by more.
_MAX_APART = 1e9


def judge(launches: Sequence[traces.Event], card: Mapping[str, Sequence[traces.Event]]) -> outcome.Verdict:
    """Judges the launches on the host, and the events of the card by plane, where the device is a card."""
    verdict = outcome.Verdict()
    if len(launches) < _STEPS:
        verdict.problems.append(f"{len(launches)} launches in {_STEPS} steps")
    if outcome.is_cpu():
        return verdict
    events = [event for plane in card.values() for event in plane if event.end > event.begin]
    if len(events) < _STEPS:
        verdict.problems.append(f"{len(events)} events of the card in {_STEPS} steps: its profiler records no kernels")
    elif launches:
        begin = min(launch.begin for launch in launches) - _MAX_APART
        end = max(launch.end for launch in launches) + _MAX_APART
        apart = [event for event in events if not begin <= event.begin <= end]
        if apart:
            verdict.problems.append(f"{len(apart)} events of the card are seconds away from the launches")
    return verdict


def main() -> int:
    load_habana_module()
    problem = PROBLEMS["mlp"]
    trainer = Trainer(problem, outcome.HPU)
    trainer.losses(problem.batch(), 2)
    folder = outcome.scratch() / "profile"
    tf.profiler.experimental.start(str(folder))
    for number in range(_STEPS):
        with tf.profiler.experimental.Trace("train", step_num=number, _r=1):
            trainer.losses(problem.batch(), 1)
    tf.profiler.experimental.stop()
    events = traces.read_profile(folder)
    counts = collections.Counter(event.lane for event in events)
    launches = [event for event in traces.of_lane(events, "Compute") if event.end > event.begin]
    space = traces.read_space(folder)
    card = {plane.name: traces.events_of(plane) for plane in space.planes if plane.name.startswith(_CARD)}
    values: dict[str, Any] = {
        "events": dict(counts),
        "launches, us": [round((event.end - event.begin) / 1e3, 1) for event in launches],
        "names": sorted({event.name for event in launches}),
        "planes": [plane.name for plane in space.planes],
        "events of the card": {
            name: dict(collections.Counter(event.lane for event in plane)) for name, plane in card.items()
        },
        "warnings": list(space.warnings),
    }
    recorded = sum(map(len, card.values()))
    summary = f"{len(launches)} launches in {_STEPS} steps, {recorded} events of the card"
    if outcome.is_cpu():
        summary += " (CPU plugins have no profiler)"
    return judge(launches, card).report(summary, values)


if __name__ == "__main__":
    sys.exit(main())
