"""Cost of profiling: time of a train step with TensorFlow's profiler on (only the HPU's tracer) and off.

No build without the tracer exists as a baseline. Therefore build/hpu_bench (`ninja -C build hpu_bench`) measures the
cost of each inactive hook, and a trace counts the hooks' calls in a step. The cost is their product.

Recipes that time their instructions (HPU_EMULATOR_PROFILE=1) run in a second process, in turns with this one.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Callable

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import tensorflow as tf

from benchmarks.measure import in_turns
from habana_frameworks.tensorflow import device_trace, habana_device, load_habana_module

BENCH = pathlib.Path(__file__).resolve().parents[1] / "build" / "hpu_bench"
# Largest number of stream calls that accompany a launch or copy: events before and after it, waits, a callback.
CALLS_WITH_AN_EVENT = 5


@dataclasses.dataclass(frozen=True)
class HookCosts:
    """Nanoseconds that inactive tracing adds to a call."""

    launch: float  # launch or copy, whichever costs more
    other: float  # calls without a trace event

    def of_step(self, events: float) -> float:
        """Returns the cost in seconds for a step with `events` events."""
        return events * (self.launch + CALLS_WITH_AN_EVENT * self.other) * 1e-9


def measure_hooks(program: pathlib.Path) -> HookCosts | None:
    """Measures the hooks with hpu_bench. Returns None if hpu_bench is not built."""
    if not program.exists():
        return None
    options = ["--benchmark_filter=(bare|tracing off)$", "--benchmark_format=json", "--benchmark_repetitions=5"]
    done = subprocess.run(
        [program, *options, "--benchmark_min_time=0.05"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True
    )
    medians = {
        run["run_name"]: run["real_time"]
        for run in json.loads(done.stdout)["benchmarks"]
        if run.get("aggregate_name") == "median"
    }
    added = {call: medians[f"{call}, tracing off"] - medians[f"{call}, bare"] for call in ("launch", "copy", "wait")}
    return HookCosts(max(added["launch"], added["copy"]), max(added["wait"], 0.0))


def make_step(units: int, batch: int) -> Callable[[int], object]:
    """Returns a function that runs train steps of a three-layer network, with batch upload and loss download."""
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
    """Returns a function that calls `run` while the profiler records."""
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


class TimedRecipes:
    """A second process, whose recipes time their instructions. It runs steps on request."""

    def __init__(self, units: int, batch: int) -> None:
        command = [sys.executable, "-m", "benchmarks.profiling", "--units", str(units), "--batch", str(batch)]
        self._process = subprocess.Popen(
            [*command, "--serve-steps"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "HPU_EMULATOR_PROFILE": "1"},
        )
        self.events_of_a_step = float(self._answer())

    def __enter__(self) -> TimedRecipes:
        return self

    def __exit__(self, *error: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    def run(self, steps: int) -> None:
        self._request(f"off {steps}")

    def run_profiled(self, steps: int) -> None:
        self._request(f"on {steps}")

    def _request(self, text: str) -> None:
        assert self._process.stdin is not None
        print(text, file=self._process.stdin, flush=True)
        self._answer()

    def _answer(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the process with timed recipes ended: see its messages above")
        return line


def serve_steps(units: int, batch: int) -> None:
    """Runs steps as TimedRecipes requests on stdin, in a process with HPU_EMULATOR_PROFILE=1."""
    run = make_step(units, batch)
    run(20)
    print(count_events(run), flush=True)
    runs = {"off": run, "on": profiled(run, 1)}
    for line in sys.stdin:
        name, steps = line.split()
        runs[name](int(steps))
        print("done", flush=True)


def count_events(run: Callable[[int], object]) -> float:
    """Returns the number of trace events of a step."""
    recording = device_trace.Recording(detailed=False)
    run(10)
    return sum(event["ph"] == "X" for event in json.loads(recording.stop())["traceEvents"]) / 10


@dataclasses.dataclass(frozen=True)
class Result:
    """Seconds of a step, medians of ratios to the step with the profiler off, and the events of one step."""

    step_seconds: float
    profiler_on: float
    detailed_trace_on: float
    timed_recipes: float
    timed_recipes_profiler_on: float
    events_of_a_step: float
    timed_events_of_a_step: float
    hooks: HookCosts | None
    off: float | None  # 1: the hooks cost nothing; None: not measured


def measure(rounds: int, seconds: float, units: int, batch: int, hooks: HookCosts | None) -> Result:
    """Measures steps with the profiler off and on, in turns."""
    run = make_step(units, batch)
    run(20)
    with TimedRecipes(units, batch) as timed:
        runs = {
            "off": run,
            "on": profiled(run, 1),
            "detailed": profiled(run, 2),
            "timed": timed.run,
            "timed, on": timed.run_profiled,
        }
        times = in_turns(runs, rounds, seconds)
    events = count_events(run)
    off = times.summary("off").median
    return Result(
        off,
        times.ratio("on", "off").median,
        times.ratio("detailed", "off").median,
        times.ratio("timed", "off").median,
        times.ratio("timed, on", "off").median,
        events,
        timed.events_of_a_step,
        hooks,
        None if hooks is None else 1 + hooks.of_step(events) / off,
    )


def main() -> int:
    """Prints the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=0.5, help="length of a turn (default: 0.5)")
    parser.add_argument("--units", type=int, default=512)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--bench", type=pathlib.Path, default=BENCH, help="path of hpu_bench (in build/ by default)")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--serve-steps", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    load_habana_module()
    if arguments.serve_steps:
        serve_steps(arguments.units, arguments.batch)
        return 0
    result = measure(
        arguments.rounds, arguments.seconds, arguments.units, arguments.batch, measure_hooks(arguments.bench)
    )
    if arguments.json:
        print(json.dumps(dataclasses.asdict(result)))
    else:
        print(f"step, profiler off        {result.step_seconds * 1e3:8.3f} ms, {result.events_of_a_step:.1f} events")
        print(f"profiler on / off         {result.profiler_on:8.3f}")
        print(f"detailed trace on / off   {result.detailed_trace_on:8.3f}")
        print(f"timed recipes / off       {result.timed_recipes:8.3f}")
        print(
            f"  with the profiler / off {result.timed_recipes_profiler_on:8.3f}, "
            f"{result.timed_events_of_a_step:.1f} events"
        )
        if result.hooks is None:
            print(f"off / without its hooks   not measured: {arguments.bench} does not exist; build it with ninja")
        else:
            of_launch, of_other = result.hooks.launch, result.hooks.other
            print(
                f"off / without its hooks   {result.off:8.6f}  (launch {of_launch:.1f}, others {of_other:.1f} ns more)"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
