"""Check 12: all-reduce between two cards by programs of both cards (NCCL), beside the exchange through the host.

On a CPU plugin, the ranks are two devices of one client, in hpu_bench: such plugins have no collectives between
processes.
"""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
from collections.abc import Mapping

from benchmarks import hpu_bench
from tools.accelerator.checks import collectives_job, outcome

MODES = ("host", "device")
_SECONDS = 100
_NAMES = {"host": "all-reduce through the host", "device": "all-reduce by the devices"}


def judge(milliseconds: Mapping[str, Mapping[str, float]]) -> outcome.Verdict:
    """Compares the times, by mode and size. Both modes must have results; a slower program is over the limit."""
    verdict = outcome.Verdict()
    for mode in MODES:
        if not milliseconds.get(mode):
            verdict.problems.append(f"no result with HPU_PJRT_COLLECTIVES={mode}")
    if not verdict.problems:
        for size, device in milliseconds["device"].items():
            verdict.limit(f"{size}, device / host:", device / milliseconds["host"][size], 1.0)
    return verdict


def cards(devices: pathlib.Path = pathlib.Path("/dev")) -> int:
    """Number of NVIDIA cards of this machine, by their device files."""
    return sum(path.name.removeprefix("nvidia").isdecimal() for path in devices.glob("nvidia*"))


def by_job(mode: str) -> dict[str, float]:
    """Milliseconds of an all-reduce between two processes, by size; empty if the job failed."""
    command = [sys.executable, "-m", "habana_frameworks.tensorflow", "run", "-np", "2", "--no-prefix"]
    done = subprocess.run(
        [*command, "-m", collectives_job.__name__],
        env={**os.environ, "HPU_PJRT_COLLECTIVES": mode},
        capture_output=True,
        text=True,
        check=False,
        timeout=_SECONDS,
    )
    sys.stdout.write(done.stdout + done.stderr)
    lines = [line for line in done.stdout.splitlines() if line.startswith(collectives_job.PREFIX)]
    if done.returncode != 0 or not lines:
        return {}
    results: dict[str, float] = json.loads(lines[-1].removeprefix(collectives_job.PREFIX))
    return results


def by_bench(program: pathlib.Path) -> dict[str, dict[str, float]]:
    """Milliseconds of an all-reduce between two devices of one process, by mode and size."""
    records = hpu_bench.run_benchmarks("all-reduce", seconds=0.5, program=program)
    found: dict[str, dict[str, float]] = {mode: {} for mode in MODES}
    for record in records:
        if record.get("aggregate_name") != "median":
            continue
        for mode, name in _NAMES.items():
            if record["run_name"].startswith(name):
                size = record["run_name"].removesuffix("/real_time").rpartition("/")[2]
                found[mode][f"{size} MiB"] = record["real_time"] / 1e6
    return found


def main() -> int:
    if outcome.is_cpu():
        program = outcome.kit() / "bin" / "hpu_bench"
        if not program.exists():
            return outcome.skip("the kit has no hpu_bench")
        try:
            times = by_bench(program)
        except subprocess.CalledProcessError as error:
            return outcome.report(False, f"hpu_bench ended with exit code {error.returncode}")
    else:
        if (count := cards()) < 2:
            return outcome.skip(f"needs two cards; this machine has {count}")
        try:
            times = {mode: by_job(mode) for mode in MODES}
        except subprocess.TimeoutExpired as error:
            return outcome.report(False, f"the job did not end within {error.timeout:g} s")
    summary = "; ".join(f"{mode} {size}: {time:.3g} ms" for mode in MODES for size, time in times[mode].items())
    values = {f"{mode}, {size}, ms": round(time, 3) for mode in MODES for size, time in times[mode].items()}
    return judge(times).report(summary, values)


if __name__ == "__main__":
    sys.exit(main())
