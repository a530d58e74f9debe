"""Time and CPU time until the first train step is done: TensorFlow on the CPU, the HPU without recipes, and with them.

"async" is the HPU without recipes that compiles in the background (HPU_COMPILE_MODE=async).

Each start is a process of its own. The variants alternate, and medians are printed. On a busy machine, CPU time is the
more reliable figure.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
from typing import Any

from benchmarks.compile_modes import VARIANTS, Start, measure
from benchmarks.models import PROBLEMS

NAMES = {"cpu": "cpu", "async": "async", "strict, cold": "cold", "strict, warm": "warm"}


def starts(problem: str, rounds: int) -> dict[str, list[Start]]:
    """Returns the starts of each variant, one for each round. Each round has recipes of its own."""
    found: dict[str, list[Start]] = {name: [] for name in NAMES.values()}
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as cache:
            for variant in VARIANTS:
                if variant.name in NAMES:
                    start = measure(variant, problem, seconds=0, cache=cache, cold_memory=True)
                    found[NAMES[variant.name]].append(start)
    return found


def medians(of_variant: list[Start]) -> dict[str, float]:
    """Medians of the first step and of its parts, in seconds."""
    values = [
        {
            "first_step": start.first_step,
            "processor": start.processor,
            "trace": start.trace,
            "passes": start.passes,
            "lowering": start.lowering,
            "generating_or_loading": start.loading,
            "other": start.call - start.passes - start.lowering - start.loading,
            "launch": start.wait,
        }
        for start in of_variant
    ]
    return {name: statistics.median(value[name] for value in values) for name in values[0]}


def summary(problem: str, rounds: int) -> dict[str, Any]:
    variants = {name: medians(of_variant) for name, of_variant in starts(problem, rounds).items()}
    return {
        "model": problem,
        "variants": variants,
        "ratios": {
            name: {part: variants[name][part] / variants["cpu"][part] for part in ("first_step", "processor")}
            for name in variants
            if name != "cpu"
        },
    }


def print_summary(result: dict[str, Any]) -> None:
    print(result["model"])
    for name, parts in result["variants"].items():
        first = f"first step {parts['first_step']:.2f} s, {parts['processor']:.2f} s of CPU time"
        inside = ", ".join(f"{part} {seconds:.2f}" for part, seconds in list(parts.items())[2:])
        print(f"  {name:<5} {first} ({inside})")
    for name, ratios in result["ratios"].items():
        print(f"  {name}/cpu {ratios['first_step']:.2f}, in CPU time {ratios['processor']:.2f}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", nargs="+", choices=PROBLEMS, default=list(PROBLEMS))
    parser.add_argument("--rounds", type=int, default=3, help="processes of each variant (default: 3)")
    parser.add_argument("--json", action="store_true", help="print one JSON object for programs")
    arguments = parser.parse_args()
    results = []
    for problem in arguments.models:
        results.append(summary(problem, arguments.rounds))
        if not arguments.json:
            print_summary(results[-1])
    if arguments.json:
        print(json.dumps({"cpus": os.cpu_count(), "load": os.getloadavg(), "results": results}, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
