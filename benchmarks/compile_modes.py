"""How soon the first train step is done in each compile mode, against TensorFlow on the CPU; each in a new process."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import subprocess
import sys
import tempfile
import time
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

from benchmarks.models import PROBLEMS, Trainer


@dataclasses.dataclass(frozen=True)
class Way:
    """How one process trains."""

    name: str
    device: str
    mode: str
    cached: bool = False
    """Shares a directory of recipes with the other ways that do."""


WAYS = (
    Way("cpu", "/device:CPU:0", "strict"),
    Way("async", "/device:HPU:0", "async"),
    Way("strict, cold", "/device:HPU:0", "strict", cached=True),
    Way("strict, warm", "/device:HPU:0", "strict", cached=True),
)


@dataclasses.dataclass(frozen=True)
class Start:
    """The first steps of one process, in seconds."""

    trace: float
    first_step: float
    """With tracing."""
    compiling: float
    """Lowering, and code generation or loading, on the step's own thread or in the background."""
    compiled: int
    """Recipes that were compiled, not loaded."""
    steps_on_cpu: int
    median_step: float
    longest_step: float
    """Of those after the first."""
    loss: float

    @property
    def unexplained(self) -> float:
        """What the first step took besides tracing and the lowering of its cluster, with loading its recipe."""
        return self.first_step - self.trace - self.compiling


def train(problem: str, device: str, seconds: float) -> Start:
    """Runs steps for that long, and in the background until the recipe is there."""
    if "HPU" in device:
        from habana_frameworks.tensorflow import load_habana_module

        load_habana_module()
    trainer = Trainer(PROBLEMS[problem], device)
    tensors = trainer.to_device(PROBLEMS[problem].batch())
    times: list[float] = []
    begin = time.perf_counter()
    trainer.trace(*tensors)
    trace = time.perf_counter() - begin
    end = begin + seconds
    while not times or time.perf_counter() < end:
        start = time.perf_counter() if times else begin
        loss = float(trainer.step(*tensors))
        times.append(time.perf_counter() - start)
    later = sorted(times[1:]) or times
    compiling, compiled, on_cpu = 0.0, 0, 0
    if "HPU" in device:
        from habana_frameworks.tensorflow import statistics

        (cluster,) = [cluster for cluster in statistics.clusters() if "train_step" in cluster.name]
        compiling, on_cpu, compiled = cluster.compile_seconds, cluster.fallbacks, statistics.recipes().compiled
    return Start(trace, times[0], compiling, compiled, on_cpu, later[len(later) // 2], later[-1], loss)


def measure(way: Way, problem: str, seconds: float, cache: str) -> Start:
    """A process of its own."""
    environment = {**os.environ, "HPU_COMPILE_MODE": way.mode, "TF_RECIPE_CACHE_PATH": cache if way.cached else ""}
    command = [sys.executable, "-m", "benchmarks.compile_modes", "--model", problem, "--seconds", str(seconds)]
    done = subprocess.run([*command, "--child", way.device], env=environment, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{way.name}: the process ended with {done.returncode}")
    return Start(**json.loads(done.stdout.splitlines()[-1]))


def as_json(starts: dict[str, Start]) -> dict[str, Any]:
    cpu = starts["cpu"].first_step
    return {
        "cpus": os.cpu_count(),
        "load": os.getloadavg(),
        "starts": {
            name: {**dataclasses.asdict(start), "unexplained": start.unexplained} for name, start in starts.items()
        },
        "ratios": {f"{name}/cpu": start.first_step / cpu for name, start in starts.items() if name != "cpu"},
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", choices=PROBLEMS, default="resnet50")
    parser.add_argument("--seconds", type=float, default=60, help="of training, in each process (default: 60)")
    parser.add_argument("--json", action="store_true", help="print one JSON object for programs")
    parser.add_argument("--child", metavar="DEVICE", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        print(json.dumps(dataclasses.asdict(train(arguments.model, arguments.child, arguments.seconds))))
        return 0
    with tempfile.TemporaryDirectory() as cache:
        starts = {way.name: measure(way, arguments.model, arguments.seconds, cache) for way in WAYS}
    data = as_json(starts)
    if arguments.json:
        print(json.dumps(data, indent=2))
        return 0
    print(f"{arguments.model}, {data['cpus']} CPUs, load {data['load'][0]:.1f}")
    for name, start in starts.items():
        first = f"first step {start.first_step:7.2f} s (tracing {start.trace:.2f}, compiling {start.compiling:.2f})"
        later = f"later ones {1000 * start.median_step:.0f} ms, the longest {1000 * start.longest_step:.0f} ms"
        counts = f"{start.compiled} recipes compiled, {start.steps_on_cpu} steps on the CPU"
        print(f"  {name:<13} {first}; {later}; {counts}")
    for name, ratio in data["ratios"].items():
        print(f"  {name:<17} {ratio:6.2f}")
    print(f"  strict, warm: {starts['strict, warm'].unexplained:.2f} s besides tracing, lowering and loading")
    return 0


if __name__ == "__main__":
    sys.exit(main())
