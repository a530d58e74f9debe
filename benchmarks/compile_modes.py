"""Time of the first train step in each compile mode, compared with TensorFlow on the CPU; each in a new process.

With --efforts: compile time and step time in the strict mode for each HPU_COMPILE_EFFORT.

The host of a virtual machine may reclaim free memory. The first touch of each page then costs milliseconds on both
devices. Each process therefore touches memory before the measurement, and frees the memory right before the first step.
--cold-memory skips this.

Python's full garbage collection visits all objects of TensorFlow's modules, which takes 0.15 s. Imports decide when the
next collection is due: in one process it falls into the first step, in another after it. So each process collects
before the measurement.
"""

from __future__ import annotations

import argparse
import dataclasses
import gc
import json
import os
import subprocess
import sys
import tempfile
import time
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np

from benchmarks.models import PROBLEMS, Trainer


@dataclasses.dataclass(frozen=True)
class Variant:
    """Settings of one training process."""

    name: str
    device: str
    mode: str
    cached: bool = False
    """Whether the process uses the recipe directory that all cached configurations share."""
    effort: int = 3


VARIANTS = (
    Variant("cpu", "/device:CPU:0", "strict"),
    Variant("async", "/device:HPU:0", "async"),
    Variant("strict, cold", "/device:HPU:0", "strict", cached=True),
    Variant("strict, warm", "/device:HPU:0", "strict", cached=True),
)
TOUCHED_BYTES = 1 << 30
"""More memory than a step of any model needs."""
EFFORTS = (
    Variant("cpu", "/device:CPU:0", "strict"),
    *(Variant(f"effort {effort}", "/device:HPU:0", "strict", effort=effort) for effort in range(4)),
)


@dataclasses.dataclass(frozen=True)
class Start:
    """Measurements of one process's first steps. Times are in seconds. The first step is trace, call and wait."""

    trace: float
    call: float
    """Graph optimization by TensorFlow, clustering by this package's passes, lowering, compilation and launch."""
    wait: float
    """Computation on the HPU, including the first touch of its memory. On the CPU this is part of the call."""
    passes: float
    """This package's graph passes."""
    lowering: float
    loading: float
    """Loading of the recipe, including its fingerprint, or code generation if no recipe was stored. Like lowering, this
    runs on the step's thread, or in the background in mode async."""
    compiled: int
    """Number of recipes compiled rather than loaded."""
    steps_on_cpu: int
    median_step: float
    """Median of the steps after the first."""
    longest_step: float
    loss: float
    processor: float
    """CPU time of all threads in the first step, which is more reliable than the elapsed time on a busy machine."""
    touch: float
    """Time to touch TOUCHED_BYTES of memory beforehand; 0 if skipped."""

    @property
    def first_step(self) -> float:
        return self.trace + self.call + self.wait

    @property
    def beyond(self) -> float:
        """Time of the first step without tracing and lowering, but including computation."""
        return self.first_step - self.trace - self.lowering

    @property
    def parts(self) -> dict[str, float]:
        """Parts of `beyond`, if the first step compiles or loads its recipe itself."""
        return {
            "TensorFlow's optimizers, placement and executor": self.call - self.passes - self.lowering - self.loading,
            "our passes": self.passes,
            "fingerprint and loading": self.loading,
            "steady-state step": self.median_step,
            "first touch of memory and code": self.wait - self.median_step,
        }


def train(problem: str, device: str, seconds: float, cold_memory: bool) -> Start:
    """Runs steps for `seconds`, and at least two steps."""
    if "HPU" in device:
        from habana_frameworks.tensorflow import load_habana_module

        load_habana_module()
    trainer = Trainer(PROBLEMS[problem], device)
    tensors = trainer.to_device(PROBLEMS[problem].batch())
    begin = time.perf_counter()
    memory = None if cold_memory else np.ones(TOUCHED_BYTES, np.uint8)
    touch = time.perf_counter() - begin
    gc.collect()
    begin, processor = time.perf_counter(), time.process_time()
    trainer.trace(*tensors)
    traced = time.perf_counter()
    del memory
    result = trainer.step(*tensors)
    called = time.perf_counter()
    loss = float(result)
    done, processor = time.perf_counter(), time.process_time() - processor
    later: list[float] = []
    while not later or time.perf_counter() < begin + seconds:
        start = time.perf_counter()
        loss = float(trainer.step(*tensors))
        later.append(time.perf_counter() - start)
    in_passes = lowering = loading = 0.0
    compiled = on_cpu = 0
    if "HPU" in device:
        from habana_frameworks.tensorflow import statistics
        from habana_frameworks.tensorflow.explanation import passes

        (cluster,) = [cluster for cluster in statistics.clusters() if "train_step" in cluster.name]
        (report,) = [report for report in passes.recent_reports() if "train_step" in report.function]
        in_passes = sum(time.seconds for time in report.times)
        lowering, loading = cluster.lowering_seconds, cluster.compile_seconds - cluster.lowering_seconds
        on_cpu, compiled = cluster.fallbacks, statistics.recipes().compiled
    later.sort()
    return Start(
        trace=traced - begin,
        call=called - traced,
        wait=done - called,
        passes=in_passes,
        lowering=lowering,
        loading=loading,
        compiled=compiled,
        steps_on_cpu=on_cpu,
        median_step=later[len(later) // 2],
        longest_step=later[-1],
        loss=loss,
        processor=processor,
        touch=touch,
    )


def measure(variant: Variant, problem: str, seconds: float, cache: str, cold_memory: bool) -> Start:
    """Runs train() in a separate process."""
    environment = {
        **os.environ,
        "HPU_COMPILE_MODE": variant.mode,
        "HPU_COMPILE_EFFORT": str(variant.effort),
        "TF_RECIPE_CACHE_PATH": cache if variant.cached else "",
    }
    command = [sys.executable, "-m", "benchmarks.compile_modes", "--model", problem, "--seconds", str(seconds)]
    command += ["--child", variant.device, *(["--cold-memory"] if cold_memory else [])]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{variant.name}: the process ended with exit code {done.returncode}; see its messages above")
    return Start(**json.loads(done.stdout.splitlines()[-1]))


def as_json(starts: dict[str, Start]) -> dict[str, Any]:
    cpu = starts["cpu"]
    others = {name: start for name, start in starts.items() if start is not cpu}
    return {
        "cpus": os.cpu_count(),
        "load": os.getloadavg(),
        "starts": {
            name: {**dataclasses.asdict(start), "first_step": start.first_step, "beyond": start.beyond}
            for name, start in starts.items()
        },
        "ratios": {f"{name}/cpu": start.first_step / cpu.first_step for name, start in others.items()},
        "processor_ratios": {f"{name}/cpu": start.processor / cpu.processor for name, start in others.items()},
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", choices=PROBLEMS, default="resnet50")
    parser.add_argument("--seconds", type=float, default=60, help="training time of each process (default: 60)")
    parser.add_argument("--efforts", action="store_true", help="compare HPU_COMPILE_EFFORT 0 to 3 instead")
    parser.add_argument("--cold-memory", action="store_true", help="touch no memory before the first step")
    parser.add_argument("--json", action="store_true", help="print one JSON object for programs")
    parser.add_argument("--child", metavar="DEVICE", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        start = train(arguments.model, arguments.child, arguments.seconds, arguments.cold_memory)
        print(json.dumps(dataclasses.asdict(start)))
        return 0
    variants = EFFORTS if arguments.efforts else VARIANTS
    with tempfile.TemporaryDirectory() as cache:
        starts = {
            variant.name: measure(variant, arguments.model, arguments.seconds, cache, arguments.cold_memory)
            for variant in variants
        }
    data = as_json(starts)
    if arguments.json:
        print(json.dumps(data, indent=2))
        return 0
    print(f"{arguments.model}, {data['cpus']} CPUs, load {data['load'][0]:.1f}")
    for name, start in starts.items():
        first = (
            f"first step {start.first_step:7.2f} s (tracing {start.trace:.2f}, lowering {start.lowering:.2f},"
            f" code generation or loading {start.loading:.2f})"
        )
        later = f"later steps {1000 * start.median_step:.0f} ms, longest {1000 * start.longest_step:.0f} ms"
        touch = "" if arguments.cold_memory else f"; first touched {TOUCHED_BYTES >> 30} GiB in {start.touch:.2f} s"
        counts = f"{start.compiled} recipes compiled, {start.steps_on_cpu} steps on the CPU"
        print(f"  {name:<13} {first}; {later}; {counts}{touch}")
    for name, ratio in data["ratios"].items():
        print(f"  {name:<17} {ratio:6.2f}, in processor time {data['processor_ratios'][name]:.2f}")
    if arguments.efforts:
        return 0
    warm = starts["strict, warm"]
    print(f"  strict, warm: {warm.beyond:.2f} s without tracing and lowering, of which")
    for part, part_seconds in warm.parts.items():
        print(f"    {part:<50}{part_seconds:5.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
