"""Time of a train step on the HPU, batch and variables in device memory. step_time.py MODEL BATCH PRECISION FILE."""

from __future__ import annotations

import argparse
import json
import pathlib
import time

import tensorflow as tf

from benchmarks.measure import best_mean
from benchmarks.models import PROBLEMS, Trainer
from benchmarks.train_step import repeated
from habana_frameworks.tensorflow import load_habana_module
from tools.accelerator import record
from tools.accelerator.checks import outcome

_ROUNDS = 5
_ROUND_SECONDS = 0.6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", choices=PROBLEMS)
    parser.add_argument("batch", type=int)
    parser.add_argument("precision", choices=record.PRECISIONS)
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--jit-compile", action="store_true", help="compile the whole step, as the recorded program")
    arguments = parser.parse_args()
    load_habana_module()
    tf.keras.mixed_precision.set_global_policy(record.PRECISIONS[arguments.precision])
    problem = record.problem_of(arguments.model, arguments.batch)
    steps = repeated(Trainer(problem, outcome.HPU, jit_compile=arguments.jit_compile), problem.batch())
    begin = time.perf_counter()
    steps(1)
    first = time.perf_counter() - begin
    seconds = best_mean(steps, _ROUND_SECONDS, _ROUNDS)
    arguments.file.write_text(json.dumps({"first_seconds": first, "seconds": seconds}))


if __name__ == "__main__":
    main()
