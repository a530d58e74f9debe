"""Check 4: host time of a launch with 2 and 400 arguments (hpu_bench)."""

from __future__ import annotations

import json
import subprocess
import sys

from tools.accelerator.checks import outcome


def main() -> int:
    program = outcome.kit() / "bin" / "hpu_bench"
    if not program.exists():
        return outcome.skip("the kit has no hpu_bench")
    options = ["--benchmark_filter=launch by", "--benchmark_format=json", "--benchmark_repetitions=3"]
    done = subprocess.run([program, *options, "--benchmark_min_time=0.3"], stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        return outcome.report(False, f"hpu_bench ended with exit code {done.returncode}")
    microseconds = {
        run["run_name"].removesuffix("/manual_time").replace("/", " "): round(run["real_time"] / 1e3, 2)
        for run in json.loads(done.stdout)["benchmarks"]
        if run.get("aggregate_name") == "median"
    }
    summary = "; ".join(f"{name}: {time:g} us" for name, time in microseconds.items())
    return outcome.report(len(microseconds) == 4, summary, {f"{name}, us": time for name, time in microseconds.items()})


if __name__ == "__main__":
    sys.exit(main())
