"""Time and memory of train steps on the HPU, in float32 and with recipes of TF_BF16_CONVERSION."""

from __future__ import annotations

import argparse
import dataclasses
import gc
import json
import os
import sys
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("HPU_WORKSPACE_CHUNK_MB", "1")  # rounding then adds less than 1 MiB to reported memory

import tensorflow as tf

from benchmarks.measure import Times, in_turns
from benchmarks.models import PROBLEMS, Problem, Trainer
from benchmarks.train_step import in_use, peak, repeated
from habana_frameworks.tensorflow import load_habana_module

FLOAT32 = "float32"
DEVICE = "/device:HPU:0"


@dataclasses.dataclass(frozen=True)
class Result:
    """Result of one model in float32 and with each recipe, from the same weights."""

    model: str
    losses: dict[str, float]
    """Loss after three steps."""
    working_bytes: dict[str, int]
    """Memory of a step without the batch, the variables and the optimizer's variables."""
    times: Times

    def as_json(self) -> dict[str, Any]:
        return {
            "model": self.model,
            "losses": self.losses,
            "working_bytes": self.working_bytes,
            "step_seconds": {name: dataclasses.asdict(self.times.summary(name)) for name in self.losses},
            "ratios": {
                f"{name}/{FLOAT32}": dataclasses.asdict(self.times.ratio(name, FLOAT32))
                for name in self.losses
                if name != FLOAT32
            },
        }


def measure(problem: Problem, recipes: list[str], optimizer: str, rounds: int, seconds_per_turn: float) -> Result:
    """Trains the same model from equal weights in float32 and with each recipe, in turns."""
    tf.keras.utils.set_random_seed(1)
    batch = problem.batch()
    weights = None
    runs, losses, working_bytes = {}, {}, {}
    for name in [FLOAT32, *recipes]:
        os.environ["TF_BF16_CONVERSION"] = "0" if name == FLOAT32 else name  # read at the first run of a graph
        gc.collect()  # frees earlier models, which contain reference cycles
        trainer = Trainer(problem, DEVICE, optimizer, weights=weights)
        weights = weights or trainer.model.get_weights()
        runs[name] = repeated(trainer, batch)
        losses[name] = trainer.losses(batch, steps=3)[-1]
        before = in_use(DEVICE)
        runs[name](2)
        working_bytes[name] = peak(DEVICE) - before
    return Result(problem.name, losses, working_bytes, in_turns(runs, rounds, seconds_per_turn, warm_up=3))


def print_result(result: Result) -> None:
    data = result.as_json()
    for name, step in data["step_seconds"].items():
        line = f"{result.model:12} {name:10} {1000 * step['median']:9.2f} ms"
        line += f"  {result.working_bytes[name] / 1e6:8.1f} MB  loss {result.losses[name]:.4f}"
        if ratio := data["ratios"].get(f"{name}/{FLOAT32}"):
            line += f"  time over float32 {ratio['median']:.3f} ({ratio['low']:.3f} to {ratio['high']:.3f})"
        print(line, flush=True)


def main() -> int:
    """Prints one line per model and recipe."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", nargs="+", choices=PROBLEMS, default=list(PROBLEMS))
    parser.add_argument("--recipes", nargs="+", default=["full"], help="values of TF_BF16_CONVERSION (default: full)")
    parser.add_argument("--optimizer", choices=("sgd", "adam"), default="sgd")
    parser.add_argument("--rounds", type=int, default=15, help="measurement rounds (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=0.5, help="length of a turn (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print one JSON array for programs")
    arguments = parser.parse_args()
    load_habana_module()
    results = []
    for model in arguments.models:
        result = measure(PROBLEMS[model], arguments.recipes, arguments.optimizer, arguments.rounds, arguments.seconds)
        results.append(result.as_json())
        if not arguments.json:
            print_result(result)
    if arguments.json:
        print(json.dumps(results, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
