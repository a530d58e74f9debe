"""Check 10: device events in a trace of three train steps."""

from __future__ import annotations

import collections
import sys

import tensorflow as tf

from benchmarks.models import PROBLEMS, Trainer
from habana_frameworks.tensorflow import load_habana_module
from tests.profiling import traces
from tools.accelerator.checks import outcome

_STEPS = 3


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
    values = {
        "events": dict(counts),
        "launches, us": [round((event.end - event.begin) / 1e3, 1) for event in launches],
        "names": sorted({event.name for event in launches}),
    }
    return outcome.report(len(launches) >= _STEPS, f"{len(launches)} launches in {_STEPS} steps", values)


if __name__ == "__main__":
    sys.exit(main())
