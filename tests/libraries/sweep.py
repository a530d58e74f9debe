"""Trains with public libraries on HPU and CPU: `python -m tests.libraries.sweep --write docs/user/libraries.md`.

Needs the packages of requirements/libraries.txt. Exit code: 0; 1 if a program fails, results differ, or --check finds
an outdated page; 2 for wrong arguments.
"""

from __future__ import annotations

import argparse
import ast
import dataclasses
import datetime
import importlib.metadata
import json
import pathlib
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator

import numpy as np

from tests.libraries import page
from tests.libraries.page import Outcome
from tests.libraries.run import STEPS, WARM_UP, Result
from tests.support import crashes
from tests.support.processes import ROOT, WARM_PYTHON, run

PAGE = ROOT / "docs" / "user" / "libraries.md"
PROGRAMS = pathlib.Path(__file__).with_name("programs")
# Distributions whose names differ from their modules' names by more than dashes.
_DISTRIBUTIONS = {"sonnet": "dm-sonnet"}
_TIMEOUT = 600
_ENVIRONMENT = {"TF_CPU_RUNTIME_FALLBACK": "forbid", "TF_CPP_MIN_LOG_LEVEL": "1"}


def programs(only: str = "") -> Iterator[tuple[str, str]]:
    """Yields module and name of the programs whose "module: name" matches, without importing their libraries."""
    for path in sorted(PROGRAMS.glob("[!_]*.py")):
        last = ast.parse(path.read_text()).body[-1]
        assert isinstance(last, ast.Assign) and isinstance(last.value, ast.Dict), f"{path} does not end with PROGRAMS"
        names = [str(ast.literal_eval(key)) for key in last.value.keys if key is not None]
        yield from ((path.stem, name) for name in names if re.search(only, f"{path.stem}: {name}"))


def distribution(module: str) -> str:
    """Returns the name by which pip knows a program's library."""
    return _DISTRIBUTIONS.get(module, module.replace("_", "-"))


def difference(actual: Result, expected: Result, weights: list[np.ndarray], expected_weights: list[np.ndarray]) -> str:
    """Describes the largest difference between two trainings; empty within the tolerance."""
    if [weight.shape for weight in weights] != [weight.shape for weight in expected_weights]:
        return "weights of other shapes"
    pairs = [("losses", np.asarray(actual.losses), np.asarray(expected.losses))]
    pairs += [(f"weights {index}", *pair) for index, pair in enumerate(zip(weights, expected_weights))]
    for what, one, other in pairs:
        if not np.array_equal(np.isfinite(one), np.isfinite(other)):
            return f"{what}: not finite"
        scale = float(np.max(np.abs(other), initial=1e-3))
        apart = float(np.max(np.abs(one.astype(np.float64) - other), initial=0)) / scale
        if apart > expected.tolerance:
            return f"{what}: {apart:.2g} apart, relative to the largest"
    return ""


def run_program(module: str, name: str) -> Outcome:
    """Trains on both devices, in a process each."""
    version = importlib.metadata.version(distribution(module))
    outcome = Outcome(distribution(module), version, name)
    with tempfile.TemporaryDirectory() as directory:
        results, weights = {}, {}
        for device in ("cpu", "hpu"):
            file = pathlib.Path(directory, device)
            fault = _train(module, name, device, file)
            if fault:
                return dataclasses.replace(outcome, fault=f"on the {device.upper()}: {fault}")
            results[device] = Result(**json.loads(file.read_text()))
            with np.load(f"{file}.npz") as arrays:
                weights[device] = [arrays[f"arr_{index}"] for index in range(len(arrays.files))]
    hpu, cpu = results["hpu"], results["cpu"]
    fault = difference(hpu, cpu, weights["hpu"], weights["cpu"])
    if not hpu.launches:
        fault = fault or "no launch: the step ran on the CPU"
    times = {"hpu_ms": hpu.step_ms, "cpu_ms": cpu.step_ms}
    return Outcome(outcome.library, version, name, fault, hpu.launches, tuple(hpu.reasons), **times)


def _train(module: str, name: str, device: str, file: pathlib.Path) -> str:
    """Runs the program in a process. Returns what failed; empty if nothing."""
    command = [WARM_PYTHON, "-m", "tests.libraries.run", module, name, device, str(file)]
    try:
        done = run(command, _ENVIRONMENT, _TIMEOUT, check=False)
    except subprocess.TimeoutExpired:
        return f"takes longer than {_TIMEOUT} s"
    for line in crashes.lines_of(done.stderr):
        return line
    if done.returncode < 0:
        return f"ended by signal {-done.returncode}"
    return _cause(done.stderr) if done.returncode else ""


def _cause(text: str) -> str:
    """Returns the line of an error output that names the cause, or else the last line."""
    lines = text.strip().splitlines() or ["no message"]
    for pattern in ("cannot (be compiled|run on the HPU)", r"^[\w.]+(Error|Exception): ."):
        if found := [line for line in lines if re.search(pattern, line)]:
            return found[-1]
    return lines[-1]


def main() -> int:
    """Runs the sweep and returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--only", default="", metavar="REGEX", help='run only programs whose "module: name" matches')
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--write", type=pathlib.Path, metavar="FILE", help="write the page")
    what.add_argument("--check", action="store_true", help=f"fail if {PAGE.name} is outdated")
    arguments = parser.parse_args()
    if arguments.only and (arguments.write or arguments.check):
        parser.error("--only excludes --write and --check, because the page needs all programs")
    selected = list(programs(arguments.only))
    if not selected:
        parser.error(f"no program matches {arguments.only}: give a part of a file's name, such as tensorflow_privacy")
    outcomes = []
    for module, name in selected:
        outcome = run_program(module, name)
        outcomes.append(outcome)
        verdict = (
            outcome.fault or f"{outcome.launches:.4g} launches, {outcome.hpu_ms:.1f} ms (CPU: {outcome.cpu_ms:.1f} ms)"
        )
        print(f"{outcome.library}: {name}: {verdict}", file=sys.stderr, flush=True)  # noqa: T201
    text = page.write(outcomes, datetime.date.today(), WARM_UP + STEPS, WARM_UP)
    if arguments.write:
        arguments.write.write_text(text)
    if arguments.check and page.without_date(PAGE.read_text()) != page.without_date(text):
        print(f"{PAGE} does not match this sweep: run `make libraries`", file=sys.stderr)  # noqa: T201
        return 1
    return 1 if any(outcome.fault for outcome in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
