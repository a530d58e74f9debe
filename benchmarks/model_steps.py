"""Train steps of one model, as a program for `hpu compile-check`, `hpu warmup` and `hpu explain`."""

from __future__ import annotations

import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from benchmarks.models import PROBLEMS, Trainer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", choices=PROBLEMS)
    parser.add_argument("--steps", type=int, default=2)
    parser.add_argument("--optimizer", choices=("sgd", "adam"), default="sgd")
    arguments = parser.parse_args()
    problem = PROBLEMS[arguments.model]
    print(Trainer(problem, "/device:HPU:0", arguments.optimizer).losses(problem.batch(), arguments.steps))


if __name__ == "__main__":
    main()
