"""What profiling costs: the time of a train step with TensorFlow's profiler on (the HPU's tracer alone) and off.

That of the tracer while it is off, a test of an atomic counter in each call of a stream, is estimated: the calls of a
step that a trace counts, times the difference of two loops with and without such a test.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import sys
import tempfile
from collections.abc import Callable

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import tensorflow as tf

from benchmarks.measure import in_turns
from habana_frameworks.tensorflow import device_trace, habana_device, load_habana_module

# A relaxed load, a comparison and a branch that is never taken: generous by several times.
NANOSECONDS_OF_A_TEST = 2.0


def make_step(units: int, batch: int) -> Callable[[int], object]:
    """Runs train steps of a network of three layers, each with its batch copied to the HPU and its loss read back."""
    layers = [tf.keras.layers.Dense(units, "relu"), tf.keras.layers.Dense(units), tf.keras.layers.Dense(10)]
    model = tf.keras.Sequential(layers)
    model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    x, y = tf.random.normal([batch, 784]).numpy(), tf.random.uniform([batch], maxval=10, dtype=tf.int32).numpy()

    def run(steps: int) -> None:
        for _ in range(steps):
            model.train_on_batch(x, y)
        habana_device.synchronize()

    return run


def profiled(run: Callable[[int], object], level: int) -> Callable[[int], object]:
    """The same while the profiler records."""
    options = tf.profiler.experimental.ProfilerOptions(
        host_tracer_level=0, python_tracer_level=0, device_tracer_level=level
    )

    def traced(steps: int) -> None:
        recording = device_trace.Recording(detailed=level > 1)
        run(steps)
        recording.stop()

    def with_tensorflow(steps: int) -> None:
        with tempfile.TemporaryDirectory() as directory:
            tf.profiler.experimental.start(directory, options)
            run(steps)
            tf.profiler.experimental.stop(save=False)

    return with_tensorflow if level == 1 else traced


@dataclasses.dataclass(frozen=True)
class Result:
    """Seconds of a step, ratios of medians, and the events of one step."""

    step_seconds: float
    profiler_on: float
    detailed_trace_on: float
    events_of_a_step: float
    off_estimate: float


def measure(rounds: int, seconds: float, units: int, batch: int) -> Result:
    """Turns of steps with the profiler off and on, one after the other."""
    run = make_step(units, batch)
    run(20)
    times = in_turns({"off": run, "on": profiled(run, 1), "detailed": profiled(run, 2)}, rounds, seconds)
    recording = device_trace.Recording(detailed=False)
    run(10)
    events = sum(event["ph"] == "X" for event in json.loads(recording.stop())["traceEvents"]) / 10
    off = times.summary("off").median
    return Result(
        off,
        times.ratio("on", "off").median,
        times.ratio("detailed", "off").median,
        events,
        1 + events * NANOSECONDS_OF_A_TEST * 1e-9 / off,
    )


def main() -> int:
    """Prints the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=0.5, help="of one turn")
    parser.add_argument("--units", type=int, default=512)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    load_habana_module()
    result = measure(arguments.rounds, arguments.seconds, arguments.units, arguments.batch)
    if arguments.json:
        print(json.dumps(dataclasses.asdict(result)))
    else:
        print(f"step, profiler off        {result.step_seconds * 1e3:8.3f} ms, {result.events_of_a_step:.1f} events")
        print(f"profiler on / off         {result.profiler_on:8.3f}")
        print(f"detailed trace on / off   {result.detailed_trace_on:8.3f}")
        print(f"off / without the tracer  {result.off_estimate:8.6f}  (estimated)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
