"""Device memory and time of train steps on the HPU in float32 and under recipes of TF_BF16_CONVERSION."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import statistics
import subprocess
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

from benchmarks.models import PROBLEMS, Trainer
from habana_frameworks.tensorflow import habana_device, load_habana_module

FLOAT32 = "0"


@dataclasses.dataclass(frozen=True)
class Result:
    """One model under one recipe, from the same weights."""

    model: str
    recipe: str
    kept_bytes: int
    """Variables, the optimizer's too, and the batch."""
    peak_bytes: int
    """With what a step needs beside them."""
    step_seconds: float
    loss: float

    @property
    def working_bytes(self) -> int:
        return self.peak_bytes - self.kept_bytes


def train(model: str, recipe: str, steps: int) -> Result:
    """Trains in this process, which has trained nothing before: a workspace stays once it is there."""
    import tensorflow as tf

    load_habana_module()
    tf.keras.utils.set_random_seed(1)
    problem = PROBLEMS[model]
    trainer = Trainer(problem, "/device:HPU:0")
    batch = trainer.to_device(problem.batch())
    habana_device.synchronize()
    kept = habana_device.memory_info().in_use
    habana_device.reset_peak_memory()
    loss = float(trainer.step(*batch))  # compiles
    seconds = []
    for _ in range(steps):
        start = time.perf_counter()
        loss = float(trainer.step(*batch))
        seconds.append(time.perf_counter() - start)
    return Result(model, recipe, kept, habana_device.memory_info().peak, statistics.median(seconds), loss)


def measure_once(model: str, recipe: str, steps: int) -> Result:
    """In a process of its own, whose workspace has no larger steps than need be."""
    environment = {**os.environ, "TF_BF16_CONVERSION": recipe, "HPU_WORKSPACE_CHUNK_MB": "1"}
    command = [sys.executable, "-m", "benchmarks.precision", model, "--steps", str(steps), "--child", recipe]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{model} under {recipe}: the process ended with {done.returncode}")
    return Result(**json.loads(done.stdout.splitlines()[-1]))


def measure(model: str, recipes: list[str], steps: int, rounds: int) -> list[Result]:
    """A result for each recipe, in turns: of times, the median."""
    turns = [[measure_once(model, recipe, steps) for recipe in recipes] for _ in range(rounds)]
    return [
        dataclasses.replace(results[0], step_seconds=statistics.median(result.step_seconds for result in results))
        for results in zip(*turns, strict=True)
    ]


def main() -> int:
    """Prints one line for each model and recipe, with ratios against float32."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", default=["transformer", "cnn"], help=f"of {', '.join(PROBLEMS)}")
    parser.add_argument("--recipes", nargs="+", default=["full", "basic"])
    parser.add_argument("--steps", type=int, default=10, help="steps of a turn (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="turns of each recipe (default: %(default)s)")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--child", metavar="RECIPE", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if unknown := set(arguments.models) - PROBLEMS.keys():
        parser.error(f"there are no models {sorted(unknown)}; there are {sorted(PROBLEMS)}")
    if arguments.child is not None:
        print(json.dumps(dataclasses.asdict(train(arguments.models[0], arguments.child, arguments.steps))))
        return 0
    results = []
    for model in arguments.models:
        plain, *others = measure(model, [FLOAT32, *arguments.recipes], arguments.steps, arguments.rounds)
        results += [plain, *others]
        for result in [] if arguments.json else [plain, *others]:
            print(
                f"{model:12} {'float32' if result is plain else result.recipe:8} "
                f"peak {result.peak_bytes / 1e6:8.1f} MB ({result.peak_bytes / plain.peak_bytes:.2f}), of it for the "
                f"step {result.working_bytes / 1e6:8.1f} MB ({result.working_bytes / plain.working_bytes:.2f})  "
                f"time {result.step_seconds * 1e3:8.1f} ms ({result.step_seconds / plain.step_seconds:.2f})  "
                f"loss {result.loss:.4f}"
            )
    if arguments.json:
        print(json.dumps([dataclasses.asdict(result) for result in results]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
