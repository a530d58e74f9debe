"""Time, memory and page faults of a train step on the HPU, and on the CPU without and with jit_compile=True."""

from __future__ import annotations

import argparse
import dataclasses
import gc
import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import tensorflow as tf

from benchmarks.measure import Summary, Times, in_turns
from benchmarks.models import PROBLEMS, Arrays, Problem, Trainer

# name: device, jit_compile
VARIANTS = {"hpu": ("/device:HPU:0", False), "jit": ("/device:CPU:0", True), "cpu": ("/device:CPU:0", False)}
RATIOS = (("hpu", "jit"), ("hpu", "cpu"), ("jit", "cpu"))


@dataclasses.dataclass(frozen=True)
class Result:
    """Result of one model with one optimizer."""

    problem: str
    optimizer: str
    first_step_seconds: dict[str, float]
    losses: dict[str, float]
    peak_bytes: dict[str, int]
    times: Times

    def as_json(self) -> dict[str, Any]:
        variants = self.times.seconds
        return {
            "model": self.problem,
            "optimizer": self.optimizer,
            "first_step_seconds": self.first_step_seconds,
            "losses": self.losses,
            "peak_bytes": self.peak_bytes,
            "step_seconds": {name: dataclasses.asdict(self.times.summary(name)) for name in variants},
            "minor_faults_per_step": {
                name: dataclasses.asdict(Summary.of(counts)) for name, counts in self.times.minor_faults.items()
            },
            "ratios": {
                f"{name}/{base}": dataclasses.asdict(self.times.ratio(name, base))
                for name, base in RATIOS
                if name in variants and base in variants
            },
        }


def repeated(trainer: Trainer, batch: Arrays) -> Callable[[int], None]:
    """Returns a function that runs steps on one batch. Reading the last loss waits for all steps."""
    tensors = trainer.to_device(batch)

    def run(steps: int) -> None:
        for _ in range(steps):
            loss = trainer.step(*tensors)
        loss.numpy()

    return run


def in_use(device: str) -> int:
    """Resets the peak and returns the bytes allocated on the device.

    An HPU also frees the workspace of earlier models.

    With oneDNN, TensorFlow's CPU allocator counts only allocations of more than 256 KB. Its figures are therefore a
    lower bound, and near zero for small models. Without oneDNN, which TensorFlow disables on older processors, the
    allocator counts nothing.
    """
    name = device.removeprefix("/device:")
    try:
        tf.config.experimental.reset_memory_stats(name)
        return int(tf.config.experimental.get_memory_info(name)["current"])
    except ValueError:
        return 0


def peak(device: str) -> int:
    """Returns the peak of bytes allocated on the device since in_use()."""
    try:
        return int(tf.config.experimental.get_memory_info(device.removeprefix("/device:"))["peak"])
    except ValueError:
        return 0


def measure(problem: Problem, optimizer: str, variants: list[str], rounds: int, seconds_per_turn: float) -> Result:
    """Trains the same model from equal weights in each variant, in turns."""
    batch = problem.batch()
    weights = None
    runs = {}
    first: dict[str, float] = {}
    losses: dict[str, float] = {}
    peak_bytes: dict[str, int] = {}
    for name in variants:
        device, jit_compile = VARIANTS[name]
        gc.collect()  # frees earlier models, which contain reference cycles
        before = in_use(device)
        trainer = Trainer(problem, device, optimizer, jit_compile, weights=weights)
        weights = weights or trainer.model.get_weights()
        begin = time.perf_counter()
        (losses[name],) = trainer.losses(batch, steps=1)
        first[name] = time.perf_counter() - begin
        runs[name] = repeated(trainer, batch)
        in_use(device)
        runs[name](2)
        peak_bytes[name] = peak(device) - before
    times = in_turns(runs, rounds, seconds_per_turn, warm_up=3)
    return Result(problem.name, optimizer, first, losses, peak_bytes, times)


def print_result(result: Result) -> None:
    data = result.as_json()
    print(f"{result.problem}, {result.optimizer}")
    for name, step in data["step_seconds"].items():
        spread = f"{1000 * step['low']:.2f} to {1000 * step['high']:.2f}"
        first = result.first_step_seconds[name]
        print(f"  {name:<8} {1000 * step['median']:9.2f} ms  ({spread}; first step {first:.2f} s)")
    peaks = ", ".join(
        f"{name} {'at least ' if 'CPU' in VARIANTS[name][0] else ''}{count / 1e6:.1f} MB"
        for name, count in result.peak_bytes.items()
    )
    faults = ", ".join(f"{name} {count['median']:.1f}" for name, count in data["minor_faults_per_step"].items())
    print(f"  minor page faults per step: {faults}")
    print(f"  peak memory, including weights and optimizer: {peaks}")
    for name, ratio in data["ratios"].items():
        print(f"  {name:<8} {ratio['median']:9.3f}     ({ratio['low']:.3f} to {ratio['high']:.3f})")


def geometric_means(results: list[dict[str, Any]]) -> dict[str, float]:
    """Geometric mean over all models of each ratio's median."""
    ratios = [result["ratios"] for result in results]
    return {name: statistics.geometric_mean(of[name]["median"] for of in ratios) for name in ratios[0]}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", nargs="+", choices=PROBLEMS, default=list(PROBLEMS))
    parser.add_argument("--optimizers", nargs="+", choices=("sgd", "adam"), default=["sgd"])
    parser.add_argument(
        "--batch-size", type=int, metavar="N", help="examples per batch (default: the model's batch size)"
    )
    parser.add_argument("--ways", dest="variants", nargs="+", choices=VARIANTS, default=list(VARIANTS))
    parser.add_argument("--rounds", type=int, default=15, help="measurement rounds (default: 15)")
    parser.add_argument("--seconds", type=float, default=0.5, help="length of a turn (default: 0.5)")
    parser.add_argument("--json", action="store_true", help="print one JSON object for programs")
    arguments = parser.parse_args()
    if "hpu" in arguments.variants:
        from habana_frameworks.tensorflow import load_habana_module

        # With this chunk size, rounding adds less than 1 MiB to the reported memory.
        os.environ.setdefault("HPU_WORKSPACE_CHUNK_MB", "1")
        load_habana_module()
    results = []
    for name in arguments.models:
        problem = PROBLEMS[name]
        if arguments.batch_size is not None:
            problem = dataclasses.replace(problem, batch_size=arguments.batch_size)
        for optimizer in arguments.optimizers:
            result = measure(problem, optimizer, arguments.variants, arguments.rounds, arguments.seconds)
            results.append(result.as_json())
            if not arguments.json:
                print_result(result)
    means = geometric_means(results)
    if arguments.json:
        print(json.dumps({"cpus": os.cpu_count(), "results": results, "geometric_means": means}, indent=2))
    else:
        print(f"geometric mean of {len(results)} models")
        for name, mean in means.items():
            print(f"  {name:<8} {mean:9.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
