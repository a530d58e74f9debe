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


def best_times(
    pattern: str, environment: Mapping[str, str], repetitions: int = 3, seconds: float | None = None
) -> dict[str, float]:
    """Returns the shortest real time of one iteration by benchmark, in seconds, over `repetitions` runs.

    `pattern` is a regular expression for names of benchmarks. `environment` is added to this process's. A run takes at
    least `seconds`; None is Google Benchmark's default.
    """
    if not PROGRAM.exists():
        raise MissingProgramError(f"{PROGRAM} does not exist; build it: make bench")
    command = [str(PROGRAM), f"--benchmark_filter={pattern}", "--benchmark_format=json"]
    command.append(f"--benchmark_repetitions={repetitions}")
    if seconds is not None:
        command.append(f"--benchmark_min_time={seconds}")
    done = subprocess.run(command, env={**os.environ, **environment}, check=True, stdout=subprocess.PIPE, text=True)
    best: dict[str, float] = {}
    runs: list[dict[str, Any]] = json.loads(done.stdout)["benchmarks"]
    for run in runs:
        if run["run_type"] == "iteration":
            time = run["real_time"] / _PER_SECOND[run["time_unit"]]
            best[run["run_name"]] = min(time, best.get(run["run_name"], time))
    return best
