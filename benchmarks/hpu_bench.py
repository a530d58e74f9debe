"""Runs benchmarks of hpu_bench, the C++ program of plugin/testing/bench/."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
from collections.abc import Mapping
from typing import Any

PROGRAM = pathlib.Path(__file__).resolve().parents[1] / "build" / "hpu_bench"
_PER_SECOND = {"ns": 1e9, "us": 1e6, "ms": 1e3, "s": 1.0}


class MissingProgramError(Exception):
    """hpu_bench has not been built."""


def run_benchmarks(
    pattern: str,
    environment: Mapping[str, str] | None = None,
    seconds: float | None = None,
    program: pathlib.Path = PROGRAM,
) -> list[dict[str, Any]]:
    """Returns Google Benchmark's records of three repetitions. Raises CalledProcessError if the program fails.

    `pattern` is a regular expression for names of benchmarks. `environment` is added to this process's. A repetition
    takes at least `seconds`; None is Google Benchmark's default.
    """
    if not program.exists():
        raise MissingProgramError(f"{program} does not exist; build it: make bench")
    command = [str(program), f"--benchmark_filter={pattern}", "--benchmark_format=json", "--benchmark_repetitions=3"]
    if seconds is not None:
        command.append(f"--benchmark_min_time={seconds}")
    variables = {**os.environ, **(environment or {})}
    done = subprocess.run(command, env=variables, check=True, stdout=subprocess.PIPE, text=True)
    records: list[dict[str, Any]] = json.loads(done.stdout)["benchmarks"]
    return records


def best_times(pattern: str, environment: Mapping[str, str], seconds: float | None = None) -> dict[str, float]:
    """Returns the shortest real time of one iteration by benchmark, in seconds, over three repetitions."""
    best: dict[str, float] = {}
    for run in run_benchmarks(pattern, environment, seconds):
        if run["run_type"] == "iteration":
            time = run["real_time"] / _PER_SECOND[run["time_unit"]]
            best[run["run_name"]] = min(time, best.get(run["run_name"], time))
    return best
