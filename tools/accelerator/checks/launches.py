"""Check 4: host time of a launch with 2 and 400 arguments (hpu_bench)."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping

from benchmarks import hpu_bench
from tools.accelerator.checks import outcome

_STREAM, _EXECUTE = "launch by a stream, arguments", "launch by the plugin's Execute, arguments"
# Limits of a launch: with 2 arguments in microseconds; with 2 and 400 arguments relative to Execute.
_MAX_MICROSECONDS, _MAX_RATIO = 5.0, 1.2
# Benchmarks of hpu_bench that the result compares.
_NAMES = [
    f"launch by {way}, arguments {count}"
    for way in ("the plugin's Execute", "the plugin's Execute and destruction", "a stream")
    for count in (2, 400)
] + [f"32 launches by {way}, arguments {count}" for way in ("the plugin's Execute", "a stream") for count in (2, 140)]


def judge(microseconds: Mapping[str, float]) -> outcome.Verdict:
    """Compares the medians, by benchmark, with the limits."""
    missing = [name for name in _NAMES if name not in microseconds]
    if missing:
        return outcome.Verdict([f"no result: {', '.join(missing)}"])
    verdict = outcome.Verdict()
    verdict.limit("2 arguments:", microseconds[f"{_STREAM} 2"], _MAX_MICROSECONDS, " us")
    for count in (2, 400):
        ratio = microseconds[f"{_STREAM} {count}"] / microseconds[f"{_EXECUTE} {count}"]
        verdict.limit(f"{count} arguments, stream / Execute:", ratio, _MAX_RATIO)
    return verdict


def main() -> int:
    program = outcome.kit() / "bin" / "hpu_bench"
    if not program.exists():
        return outcome.skip("the kit has no hpu_bench")
    try:
        records = hpu_bench.run_benchmarks("launch(es)? by", seconds=0.3, program=program)
    except subprocess.CalledProcessError as error:
        return outcome.report(False, f"hpu_bench ended with exit code {error.returncode}")
    microseconds = {
        run["run_name"].removesuffix("/manual_time").removesuffix("/real_time").replace("/", " "): round(
            run["real_time"] / 1e3, 2
        )
        for run in records
        if run.get("aggregate_name") == "median"
    }
    summary = "; ".join(f"{name}: {time:g} us" for name, time in microseconds.items())
    return judge(microseconds).report(summary, {f"{name}, us": time for name, time in microseconds.items()})


if __name__ == "__main__":
    sys.exit(main())
