"""Peak device memory and time of train steps on the HPU in float32 and under recipes of TF_BF16_CONVERSION."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

from benchmarks.models import PROBLEMS, Problem, Trainer
from habana_frameworks.tensorflow import habana_device, load_habana_module

FLOAT32 = "0"


@dataclasses.dataclass(frozen=True)
class Result:
    """One model under one recipe."""

    model: str
    recipe: str
    peak_bytes: int
    step_seconds: float
    loss: float


def measure(problem: Problem, recipe: str, steps: int) -> Result:
    """Trains a new model; the first step, which compiles, does not count."""
    os.environ["TF_BF16_CONVERSION"] = recipe
    trainer = Trainer(problem, "/device:HPU:0")
    batch = trainer.to_device(problem.batch())
    trainer.step(*batch).numpy()
    habana_device.synchronize()
    before = habana_device.memory_info().in_use
    habana_device.reset_peak_memory()
    start = time.perf_counter()
    for _ in range(steps):
        loss = trainer.step(*batch)
    value = float(loss)
    seconds = (time.perf_counter() - start) / steps
    return Result(problem.name, recipe, habana_device.memory_info().peak - before, seconds, value)


def main() -> int:
    """Prints one line for each model and recipe, with ratios against float32."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", default=["transformer", "cnn"], help=f"of {', '.join(PROBLEMS)}")
    parser.add_argument("--recipes", nargs="+", default=["full", "basic"])
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    if unknown := set(arguments.models) - PROBLEMS.keys():
        parser.error(f"there are no models {sorted(unknown)}; there are {sorted(PROBLEMS)}")
    load_habana_module()
    results = []
    for model in arguments.models:
        plain = measure(PROBLEMS[model], FLOAT32, arguments.steps)
        others = [measure(PROBLEMS[model], recipe, arguments.steps) for recipe in arguments.recipes]
        results += [plain, *others]
        for result in [] if arguments.json else [plain, *others]:
            print(
                f"{model:12} {'float32' if result is plain else result.recipe:8} "
                f"peak {result.peak_bytes / 1e6:8.1f} MB ({result.peak_bytes / plain.peak_bytes:.2f})  "
                f"step {result.step_seconds * 1e3:8.1f} ms ({result.step_seconds / plain.step_seconds:.2f})  "
                f"loss {result.loss:.4f}"
            )
    if arguments.json:
        print(json.dumps([dataclasses.asdict(result) for result in results]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
