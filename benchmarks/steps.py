"""Runs train steps of a benchmark model on the HPU: hpu explain --time benchmarks/steps.py MODEL."""

from __future__ import annotations

import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))  # a script's own path lacks the packages

from benchmarks.applications import APPLICATIONS
from benchmarks.models import OPTIMIZERS, PROBLEMS, Trainer
from habana_frameworks.tensorflow import load_habana_module


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    problems = PROBLEMS | APPLICATIONS
    parser.add_argument("model", choices=problems)
    parser.add_argument("--optimizer", choices=OPTIMIZERS, default="adam")
    parser.add_argument("--steps", type=int, default=20)
    arguments = parser.parse_args()
    load_habana_module()
    problem = problems[arguments.model]
    trainer = Trainer(problem, "/device:HPU:0", arguments.optimizer)
    print("losses", *(f"{loss:.4f}" for loss in trainer.losses(problem.batch(), arguments.steps)))


if __name__ == "__main__":
    main()
