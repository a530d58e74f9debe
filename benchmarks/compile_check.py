"""Compiles train steps and examples for a card that is not present.

python -m benchmarks.compile_check --results results.json [--target h100] [--only models applications examples]

Each program runs under `hpu compile-check` in its own process. Programs: one train step of each model in models.py and
of each family of tf.keras.applications, and each complete example. Prints a Markdown table. Skips programs whose result
is in the file of --results. Exit code 1 if a program was not compiled as a whole, or does not fit the card.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

from benchmarks.applications import APPLICATIONS
from benchmarks.models import PROBLEMS
from habana_frameworks.tensorflow._internal import text
from habana_frameworks.tensorflow.cli.compile_check import Cluster, Failure, Report

ROOT = pathlib.Path(__file__).resolve().parents[1]
# Placeholder in arguments for the program's scratch directory.
SCRATCH = "{scratch}"
EXAMPLES: dict[str, tuple[str, ...]] = {
    "collectives.py": (),
    "custom_op/custom_div.py": (f"{SCRATCH}/libhpu_custom_div_op.so",),
    "digits_custom_loop.py": (),
    "digits_horovod.py": (),
    "digits_keras.py": (),
    "digits_restart.py": ("--backup", SCRATCH),
    "digits_resume.py": ("--checkpoints", SCRATCH),
    "digits_session.py": (),
    "digits_strategy.py": (),
    "modules/device.py": (),
    "modules/estimator.py": (),
    "modules/layers.py": (),
    "modules/media.py": (),
    "modules/ranks.py": (),
    "modules/roi_align.py": (),
    "modules/trace.py": (),
    "slow_step.py": (),
}
# Arguments, results and temporaries are maxima over the program's recipes. Processor time is the whole program's. Other
# figures are sums over the recipes.
_HEADS = (
    *("program", "clusters", "eager ops", "HLO instructions", "compiled in", "processor time", "code"),
    *("arguments", "results", "temporaries", "fits"),
)
_NOTHING_TO_COMPILE = 3
_ERROR_LENGTH = 4000
# Recipes of clusters have this prefix; recipes of eager operations have the name of the op.
_CLUSTER_PREFIX = "habana_cluster"


@dataclasses.dataclass(frozen=True)
class Program:
    """A script under examples/ or benchmarks/, and its arguments."""

    name: str
    script: str
    arguments: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Result:
    """Result of `hpu compile-check` for a program."""

    program: str
    target: str
    exit_code: int | None
    """None: the program exceeded the time limit."""
    seconds: float
    processor_seconds: float
    """Processor time of the whole program, which depends least on other load on the machine."""
    report: Report | None
    """None: the command failed without a report."""
    error: str
    """End of stderr if the exit code is not 0."""

    @property
    def is_whole(self) -> bool:
        """Whether every recipe was compiled and fits the card."""
        return self.exit_code in (0, _NOTHING_TO_COMPILE)


SUITES = {
    "models": [Program(name, "benchmarks/steps.py", (name, "--optimizer", "sgd", "--steps", "1")) for name in PROBLEMS],
    "applications": [
        Program(name, "benchmarks/steps.py", (name, "--optimizer", "sgd", "--steps", "1")) for name in APPLICATIONS
    ],
    "examples": [Program(name, f"examples/{name}", arguments) for name, arguments in EXAMPLES.items()],
}


def check(program: Program, target: str, time_limit: float) -> Result:
    """Compiles a program in a process of its own."""
    with tempfile.TemporaryDirectory() as scratch:
        if "custom_op" in program.script:
            _build_custom_op(scratch)
        command = [sys.executable, "-m", "habana_frameworks.tensorflow", "compile-check", "--json", "--target", target]
        command.append(str(ROOT / program.script))
        command += [argument.replace(SCRATCH, scratch) for argument in program.arguments]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
        begin, processor_begin = time.perf_counter(), _children_seconds()
        try:
            done = subprocess.run(
                command, env=environment, cwd=scratch, capture_output=True, text=True, timeout=time_limit, check=False
            )
        except subprocess.TimeoutExpired as expired:
            error = (expired.stderr or b"").decode(errors="replace")
            used = _children_seconds() - processor_begin
            return Result(program.name, target, None, time_limit, used, None, error[-_ERROR_LENGTH:])
        seconds, processor_seconds = time.perf_counter() - begin, _children_seconds() - processor_begin
    report = _report(json.loads(done.stdout)) if done.stdout.strip() else None
    error = done.stderr[-_ERROR_LENGTH:] if done.returncode else ""
    return Result(program.name, target, done.returncode, seconds, processor_seconds, report, error)


def _children_seconds() -> float:
    """Returns the processor time of the child processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _build_custom_op(directory: str) -> None:
    configure = ["cmake", "-S", str(ROOT / "examples" / "custom_op"), "-B", directory]
    configure.append(f"-DPython3_EXECUTABLE={sys.executable}")
    for command in (configure, ["cmake", "--build", directory]):
        subprocess.run(command, env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=sys.stderr, check=True)


def _report(values: dict[str, Any]) -> Report:
    clusters = tuple(Cluster(**cluster) for cluster in values["clusters"])
    failures = tuple(Failure(**failure) for failure in values["failures"])
    return Report(**{**values, "clusters": clusters, "failures": failures})


def load(path: pathlib.Path) -> list[Result]:
    """Returns the results in a file; none if the file does not exist."""
    if not path.exists():
        return []
    return [
        Result(**{**values, "report": values["report"] and _report(values["report"])})
        for values in json.loads(path.read_text())
    ]


def save(path: pathlib.Path, results: Sequence[Result]) -> None:
    """Replaces the file atomically, so that an interrupted run leaves a complete file."""
    new = path.with_name(f"{path.name}.new")
    new.write_text(json.dumps([dataclasses.asdict(result) for result in results], indent=1) + "\n")
    new.replace(path)


def markdown(results: Sequence[Result]) -> Iterator[str]:
    """Yields the lines of a Markdown table, then of a list of problems."""
    yield _row(_HEADS)
    yield "|---" * len(_HEADS) + "|"
    for result in results:
        yield _row((result.program, *_cells(result)))
    problems = [line for result in results for line in _problems(result)]
    if problems:
        yield from ("", *problems)


def _cells(result: Result) -> tuple[str, ...]:
    clusters = result.report.clusters if result.report else ()
    graphs = sum(cluster.name.startswith(_CLUSTER_PREFIX) for cluster in clusters)
    counts = (str(graphs), str(len(clusters) - graphs))
    if not clusters:
        return (*counts, *["-"] * (len(_HEADS) - 3))
    return (
        *counts,
        f"{sum(cluster.ops for cluster in clusters):,}",
        f"{sum(cluster.compile_seconds for cluster in clusters):.1f} s",
        f"{result.processor_seconds:.0f} s",
        text.size(sum(cluster.code_bytes for cluster in clusters)),
        text.size(max(cluster.argument_bytes for cluster in clusters)),
        text.size(max(cluster.result_bytes for cluster in clusters)),
        text.size(max(cluster.temporary_bytes for cluster in clusters)),
        "yes" if all(cluster.fits for cluster in clusters) else "NO",
    )


def _problems(result: Result) -> Iterator[str]:
    for failure in result.report.failures if result.report else ():
        yield f"- {result.program}: {failure}"
    if result.exit_code is None:
        yield f"- {result.program}: timed out after {result.seconds:.0f} s"
    elif not result.is_whole:
        last = next(reversed(result.error.strip().splitlines()), "")
        yield f"- {result.program}: exit code {result.exit_code}: {last}"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=pathlib.Path, metavar="FILE", required=True, help="JSON file of the results")
    parser.add_argument("--target", metavar="CARD", default="h100", help="card to compile for (default: h100)")
    parser.add_argument(
        "--only", nargs="+", choices=SUITES, default=list(SUITES), help="groups of programs (default: all)"
    )
    parser.add_argument("--programs", nargs="+", metavar="NAME", help="check only these programs (default: all)")
    parser.add_argument(
        "--time-limit", type=float, metavar="SECONDS", default=1200, help="time limit per program (default: 1200)"
    )
    parser.add_argument("--retry", action="store_true", help="rerun programs that were not compiled as a whole")
    arguments = parser.parse_args()
    programs = [program for suite in arguments.only for program in SUITES[suite]]
    if arguments.programs:
        programs = [program for program in programs if program.name in arguments.programs]
    kept = {(result.target, result.program): result for result in load(arguments.results)}
    for program in programs:
        key = (arguments.target, program.name)
        if key in kept and (kept[key].is_whole or not arguments.retry):
            continue
        print(f"{program.name} …", file=sys.stderr, flush=True)
        kept[key] = check(program, arguments.target, arguments.time_limit)
        save(arguments.results, list(kept.values()))
    results = [kept[arguments.target, program.name] for program in programs]
    print(*markdown(results), sep="\n")
    return int(not all(result.is_whole for result in results))


if __name__ == "__main__":
    sys.exit(main())
