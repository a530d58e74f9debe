"""Records how clusters of changing sizes run, for the test of the compile policy's bound (compile_policy_test.cc).

Runs each program of changing_shapes.py three times: on the CPU only, with a recipe for each shape, and with bounded
recipes. Prints a line for each cluster that ran with several signatures, and then a line for each of its runs:

  trace PROGRAM CLUSTER EXACT BOUNDED SHARE
  SIGNATURE RANGE TIME

EXACT and BOUNDED are the longest times to compile a recipe for one shape, and a bounded one; TIME is the run's time on
the CPU, all in microseconds. SHARE is the time of a step on the HPU over that on the CPU. SIGNATURE counts from 0, and
RANGE from 1; runs of range 0 cannot have a bounded recipe.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import re
import statistics
import sys
from collections.abc import Iterator

from benchmarks import changing_shapes

_RUN = re.compile(r"CPU run of (\S+): signature (\w+), range (\w+), (\d+) us")
_COMPILED = re.compile(r"\] (\S+): compiled in (\S+) s ")
_STEPS_OF_COMPILES = 15
_MODES = {
    "cpu": {"HPU_COMPILE_MODE": "never", "TF_ENABLE_DYNAMIC_SHAPES": "1"},
    "exact": {"HPU_COMPILE_MODE": "strict", "TF_ENABLE_DYNAMIC_SHAPES": "0"},
    "bounded": {"HPU_COMPILE_MODE": "strict", "TF_ENABLE_DYNAMIC_SHAPES": "1"},
}


@dataclasses.dataclass
class Trace:
    """The runs of one cluster on the CPU."""

    signatures: dict[str, int] = dataclasses.field(default_factory=dict)
    ranges: dict[str, int] = dataclasses.field(default_factory=lambda: {"0": 0})
    runs: list[tuple[int, int, int]] = dataclasses.field(default_factory=list)

    def add(self, signature: str, range_: str, microseconds: str) -> None:
        self.runs.append(
            (
                self.signatures.setdefault(signature, len(self.signatures)),
                self.ranges.setdefault(range_, len(self.ranges)),
                int(microseconds),
            )
        )

    @property
    def seconds(self) -> float:
        return 1e-6 * sum(run[2] for run in self.runs)


def run(program: str, mode: str, steps: int) -> tuple[changing_shapes.Run, str]:
    """Returns the measurements of a process, and its log."""
    settings = {
        **_MODES[mode],
        "TF_RECIPE_CACHE_PATH": "",
        "TF_CPP_MIN_LOG_LEVEL": "0",
        "TF_CPP_VMODULE": "cluster_kernel=2,launch_kernel=1",
    }
    return changing_shapes.run_with(settings, program, "hpu", steps)


def step_seconds(measured: changing_shapes.Run) -> float:
    """Returns the time of a step that compiles nothing, as the first decile is."""
    return statistics.quantiles(measured.step_seconds[changing_shapes.WARM_UP :], n=10)[0]


def compile_times(log: str) -> dict[str, int]:
    """Returns the longest compile of each cluster, in microseconds."""
    times: dict[str, int] = collections.defaultdict(int)
    for name, seconds in _COMPILED.findall(log):
        times[name] = max(times[name], round(1e6 * float(seconds)))
    return times


def traces(program: str, steps: int, clusters: int) -> Iterator[str]:
    measured, log = run(program, "cpu", steps)
    by_cluster: dict[str, Trace] = collections.defaultdict(Trace)
    for name, *values in _RUN.findall(log):
        by_cluster[name].add(*values)
    exact, exact_log = run(program, "exact", min(steps, _STEPS_OF_COMPILES))
    bounded, bounded_log = run(program, "bounded", steps)
    share = min(map(step_seconds, (exact, bounded))) / step_seconds(measured)
    exact_times, bounded_times = compile_times(exact_log), compile_times(bounded_log)
    changing = {name: trace for name, trace in by_cluster.items() if len(trace.signatures) > 1 and exact_times[name]}
    for name in sorted(changing, key=lambda name: -changing[name].seconds)[:clusters]:
        yield f"trace {program} {name.rpartition('/')[2]} {exact_times[name]} {bounded_times[name]} {share:.2f}"
        yield from (" ".join(map(str, each)) for each in changing[name].runs)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=60, help="steps of each program (default: 60)")
    parser.add_argument("--clusters", type=int, default=2, help="clusters of each program (default: 2)")
    parser.add_argument("--only", default="", metavar="REGEX", help="programs whose names contain a match")
    options = parser.parse_args(arguments)
    failed = False
    for program in changing_shapes.names(options.only):
        try:
            print(*traces(program, options.steps, options.clusters), sep="\n", flush=True)
        except RuntimeError as error:
            print(f"{program}: {error}", file=sys.stderr)
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
