"""Compilations and waits of processes that start together on an empty recipe cache.

python benchmarks/recipe_sharing.py [--processes 8] [--model transformer] [--json]

Each process runs one train step. Exit code 1 if two processes compiled the same recipe, or if a process waited more
than one second longer than the total compile time.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Sequence

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODELS = ("mlp", "cnn", "transformer", "resnet50", "unet", "lstm")


@dataclasses.dataclass(frozen=True)
class Outcome:
    """Counters of one process."""

    compiled: int
    disk_hits: int
    waits: int
    wait_seconds: float
    # Lowering, compiling and waiting, for all clusters.
    compile_seconds: float
    loss: float


@dataclasses.dataclass(frozen=True)
class Report:
    """Totals of all processes."""

    recipes: int
    compiled: int
    disk_hits: int
    longest_wait_seconds: float
    compiling_seconds: float  # total compile time of all processes
    losses: int  # number of different losses

    @classmethod
    def of(cls, outcomes: Sequence[Outcome], recipes: int) -> Report:
        return cls(
            recipes,
            sum(outcome.compiled for outcome in outcomes),
            sum(outcome.disk_hits for outcome in outcomes),
            max(outcome.wait_seconds for outcome in outcomes),
            sum(outcome.compile_seconds - outcome.wait_seconds for outcome in outcomes if outcome.compiled),
            len({outcome.loss for outcome in outcomes}),
        )

    @property
    def ok(self) -> bool:
        return self.compiled == self.recipes and self.longest_wait_seconds <= self.compiling_seconds + 1.0


def work(model: str) -> Outcome:
    """Runs one train step. Called in a separate process."""
    import tensorflow as tf

    from benchmarks.models import PROBLEMS, Trainer
    from habana_frameworks.tensorflow import load_habana_module, statistics

    load_habana_module()
    tf.keras.utils.set_random_seed(1)
    problem = PROBLEMS[model]
    (loss,) = Trainer(problem, "/device:HPU:0").losses(problem.batch(), steps=1)
    recipes = statistics.recipes()
    seconds = sum(cluster.compile_seconds for cluster in statistics.clusters())
    return Outcome(recipes.compiled, recipes.disk_hits, recipes.waits, recipes.wait_seconds, seconds, float(loss))


def run(processes: int, model: str) -> Report:
    with tempfile.TemporaryDirectory() as directory:
        cache = pathlib.Path(directory) / "recipes"
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
            "TF_RECIPE_CACHE_PATH": str(cache),
            "HPU_MODULE_LOCK_DIR": directory,
            "HPU_MODULES": str(processes),
        }
        command = [sys.executable, __file__, "--work", "--model", model]
        running = [
            subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(processes)
        ]
        outputs = [process.communicate()[0] for process in running]
        if any(process.returncode for process in running):
            codes = ", ".join(str(process.returncode) for process in running)
            raise SystemExit(f"exit codes of the processes: {codes}; see the errors above")
        outcomes = [Outcome(**json.loads(output.splitlines()[-1])) for output in outputs]
        return Report.of(outcomes, len(list(cache.glob("*.recipe"))))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, default=8, help="number of processes that start together (default: 8)")
    parser.add_argument("--model", choices=MODELS, default="transformer")
    parser.add_argument("--json", action="store_true", help="print one JSON object for programs")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.work:
        print(json.dumps(dataclasses.asdict(work(arguments.model))))
        return 0
    report = run(arguments.processes, arguments.model)
    if arguments.json:
        print(json.dumps({**dataclasses.asdict(report), "ok": report.ok}))
    else:
        print(f"{arguments.processes} processes, one train step of {arguments.model} each, {report.losses} loss(es)")
        print(f"  recipes in the cache      {report.recipes}")
        print(f"  compiled, all processes   {report.compiled}")
        print(f"  from disk, all processes  {report.disk_hits}")
        print(f"  compiling                 {report.compiling_seconds:.2f} s")
        print(f"  longest wait              {report.longest_wait_seconds:.2f} s")
    return 0 if report.ok else 1


if __name__ == "__main__":
    sys.exit(main())
