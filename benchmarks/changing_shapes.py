"""Time of programs whose shapes change from step to step, on the HPU and on TensorFlow's CPU.

Each run is a process of its own, without stored recipes, or with --stored with those of one run before. Both devices
run a program in turns, with the same data and random seed. The times include background compiles. The first five steps
count only for the time of the whole program, which is the time from its start to the end of the last step, without
imports.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import dataclasses
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any

from habana_frameworks.tensorflow import flags

WARM_UP = 5
MODES = ("auto", "strict", "lazy", "async", "never")


@dataclasses.dataclass(frozen=True)
class Run:
    """Measurements of one process. On the CPU, the counts are 0."""

    seconds: float
    """Time to build the program and run all steps."""
    step_seconds: list[float]
    processor_seconds: list[float]
    """CPU time of each step, of all threads."""
    losses: list[float]
    recipes: int = 0
    """Recipes of clusters and of eager ops."""
    compile_seconds: float = 0
    launches: int = 0
    cpu_runs: dict[str, int] = dataclasses.field(default_factory=dict)
    """Runs of clusters on the CPU, by reason, and of eager ops ("eager")."""
    copied_bytes: int = 0
    """Bytes that these runs copied between host and device."""
    padding: float = 0
    """Share of padding in the arguments of changing size of all launches of bounded recipes."""

    @property
    def mean(self) -> float:
        return statistics.fmean(self.step_seconds[WARM_UP:])

    @property
    def mean_processor(self) -> float:
        return statistics.fmean(self.processor_seconds[WARM_UP:])

    @property
    def slowest(self) -> float:
        return max(self.step_seconds[WARM_UP:])


@dataclasses.dataclass(frozen=True)
class Result:
    """Comparison of both devices. With several rounds, the numbers are medians, and counts are the last round's."""

    program: str
    steps: int
    cpu_ms: float
    """Mean of the steps after WARM_UP."""
    hpu_ms: float
    ratio: float
    processor_ratio: float
    """Ratio of the CPU times, which is more reliable than the ratio of the elapsed times on a busy machine."""
    slowest_ratio: float
    """Slowest step after WARM_UP on the HPU, relative to the CPU's slowest."""
    whole_ratio: float
    recipes: int
    compile_seconds: float
    launches: int
    cpu_runs: dict[str, int]
    copied_bytes: int
    """Bytes that the CPU runs copied between host and device."""
    padding: float
    difference: float
    """Largest difference of a step's losses, relative to the larger loss; infinite if only one is a number."""


def intervals(times: list[float]) -> list[float]:
    return [end - begin for begin, end in zip(times, times[1:])]


def run(program: str, device: str, steps: int) -> Run:
    """Runs the program in this process."""
    if device == "hpu":
        from habana_frameworks.tensorflow import load_habana_module

        load_habana_module()
    import tensorflow as tf

    from benchmarks.changing.programs import PROGRAMS

    tf.keras.utils.set_random_seed(1)
    losses: list[float] = []
    ends = [time.perf_counter()]
    processor_ends = [time.process_time()]

    def record(loss: Any) -> None:
        losses.append(math.nan if loss is None else float(loss))
        ends.append(time.perf_counter())
        processor_ends.append(time.process_time())

    PROGRAMS[program](steps, record)
    measured = Run(ends[-1] - ends[0], intervals(ends), intervals(processor_ends), losses)
    if device != "hpu":
        return measured
    from habana_frameworks.tensorflow import statistics as counters

    counts = counters.get()
    cpu_runs = collections.Counter({"eager": counts.eager.host_runs} if counts.eager.host_runs else {})
    for cluster in counts.clusters:
        cpu_runs.update(cluster.fallback_reasons)
    recipes = sum(cluster.recipes for cluster in counts.clusters) + counts.eager.recipes
    return dataclasses.replace(
        measured,
        recipes=recipes,
        compile_seconds=counts.compile_seconds,
        launches=counts.launches,
        cpu_runs=dict(cpu_runs),
        copied_bytes=counts.fallback_bytes,
        padding=counters.padding_share(
            sum(cluster.changing_bytes for cluster in counts.clusters),
            sum(cluster.padded_bytes for cluster in counts.clusters),
        ),
    )


def run_in_process(program: str, device: str, steps: int, mode: str, cache: str = "") -> Run:
    """Runs the program in a new process. Raises RuntimeError if the process fails.

    cache: the directory of recipes; empty for none.
    """
    log_level = os.environ.get("TF_CPP_MIN_LOG_LEVEL", "2")
    settings = {"HPU_COMPILE_MODE": mode, "TF_RECIPE_CACHE_PATH": cache, "TF_CPP_MIN_LOG_LEVEL": log_level}
    return run_with(settings, program, device, steps)[0]


def run_with(settings: dict[str, str], program: str, device: str, steps: int) -> tuple[Run, str]:
    """Returns the measurements of a new process with these environment variables, and its log.

    Raises RuntimeError if the process fails.
    """
    environment = {**os.environ, **settings}
    command = [sys.executable, "-m", "benchmarks.changing_shapes", "--only", program, "--steps", str(steps)]
    done = subprocess.run([*command, "--child", device], env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"exit code {done.returncode}\n{done.stderr[-4000:]}")
    return Run(**json.loads(done.stdout.splitlines()[-1])), done.stderr


def difference(one: float, other: float) -> float:
    """Returns the difference relative to the larger number; 0 if both are not finite alike."""
    if one == other or (math.isnan(one) and math.isnan(other)):
        return 0.0
    if not (math.isfinite(one) and math.isfinite(other)):
        return math.inf
    return abs(one - other) / max(abs(one), abs(other))


def compare(program: str, cpu_runs: list[Run], hpu_runs: list[Run]) -> Result:
    """Compares the runs of each round."""
    rounds = list(zip(cpu_runs, hpu_runs))
    last = hpu_runs[-1]
    return Result(
        program=program,
        steps=len(last.losses),
        cpu_ms=1e3 * statistics.median(run.mean for run in cpu_runs),
        hpu_ms=1e3 * statistics.median(run.mean for run in hpu_runs),
        ratio=statistics.median(hpu.mean / cpu.mean for cpu, hpu in rounds),
        processor_ratio=statistics.median(hpu.mean_processor / cpu.mean_processor for cpu, hpu in rounds),
        slowest_ratio=statistics.median(hpu.slowest / cpu.slowest for cpu, hpu in rounds),
        whole_ratio=statistics.median(hpu.seconds / cpu.seconds for cpu, hpu in rounds),
        recipes=last.recipes,
        compile_seconds=last.compile_seconds,
        launches=last.launches,
        cpu_runs=last.cpu_runs,
        copied_bytes=last.copied_bytes,
        padding=last.padding,
        difference=max(difference(*pair) for cpu, hpu in rounds for pair in zip(cpu.losses, hpu.losses)),
    )


def measure(program: str, steps: int, rounds: int, mode: str, stored: bool) -> Result:
    """Runs a program on both devices in turns. stored: a run before them stores its recipes and notes."""
    runs: dict[str, list[Run]] = {"cpu": [], "hpu": []}
    with tempfile.TemporaryDirectory() if stored else contextlib.nullcontext("") as cache:
        if stored:
            run_in_process(program, "hpu", steps, mode, cache)
        for _ in range(rounds):
            runs["cpu"].append(run_in_process(program, "cpu", steps, mode))
            runs["hpu"].append(run_in_process(program, "hpu", steps, mode, cache))
    return compare(program, runs["cpu"], runs["hpu"])


def print_header(mode: str) -> None:
    backend = flags.backend()
    print(f"programs of changing shapes (backend {backend}, HPU_COMPILE_MODE={mode}, load {os.getloadavg()[0]:.1f})")
    print(
        f"{'program':<22}{'steps':>6}{'CPU, ms':>9}{'HPU, ms':>9}{'ratio':>7}{'CPU time':>9}{'slowest':>8}"
        f"{'whole':>7}{'recipes':>8}{'launches':>9}{'padding':>8}{'copied, MB':>11}{'loss':>9}  CPU runs"
    )


def print_result(result: Result) -> None:
    reasons = ", ".join(f"{reason} {count}" for reason, count in sorted(result.cpu_runs.items()))
    print(
        f"{result.program:<22}{result.steps:>6}{result.cpu_ms:>9.1f}{result.hpu_ms:>9.1f}{result.ratio:>7.2f}"
        f"{result.processor_ratio:>9.2f}{result.slowest_ratio:>8.2f}{result.whole_ratio:>7.2f}"
        f"{result.recipes:>8}{result.launches:>9}{result.padding:>8.0%}{result.copied_bytes / 1e6:>11.1f}"
        f"{result.difference:>9.1e}  {reasons}",
        flush=True,
    )


def names(only: str) -> list[str]:
    """Returns the programs whose names contain a match."""
    from benchmarks.changing.programs import PROGRAMS

    return [name for name in PROGRAMS if re.search(only, name)]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=60, help="steps of each program (default: 60)")
    parser.add_argument("--rounds", type=int, default=1, help="processes of each program and device (default: 1)")
    parser.add_argument("--only", default="", metavar="REGEX", help="programs whose names contain a match")
    parser.add_argument("--mode", choices=MODES, default="auto", help="HPU_COMPILE_MODE (default: auto)")
    parser.add_argument(
        "--stored", action="store_true", help="measure a run that begins with the recipes and notes of a run before"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object for programs")
    parser.add_argument("--child", choices=["cpu", "hpu"], help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.steps <= WARM_UP:
        parser.error(f"--steps must be more than {WARM_UP}")
    if options.rounds < 1:
        parser.error("--rounds must be at least 1")
    if options.child:
        print(json.dumps(dataclasses.asdict(run(options.only, options.child, options.steps))))
        return 0
    programs = names(options.only)
    if not programs:
        parser.error(f"--only: no program's name contains a match of {options.only!r}")
    results, failures = [], {}
    if not options.json:
        print_header(options.mode)
    for program in programs:
        try:
            results.append(measure(program, options.steps, options.rounds, options.mode, options.stored))
        except RuntimeError as error:
            failures[program] = str(error)
            print(f"{program}: {error}", file=sys.stderr)
            continue
        if not options.json:
            print_result(results[-1])
    if options.json:
        data = {
            "mode": options.mode,
            "stored": options.stored,
            "cpus": os.cpu_count(),
            "load": os.getloadavg(),
            "results": [dataclasses.asdict(result) for result in results],
            "failures": failures,
        }
        print(json.dumps(data, indent=2))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
