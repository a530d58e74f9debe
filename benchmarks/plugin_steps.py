"""Time of a train step on a PJRT plugin's device: by TensorFlow, by a stream of the device, by the plugin's Execute.

The three run the same HLO. HPU_BACKEND selects the plugin (default: pjrt:cpu). `make bench` builds hpu_bench, which
runs the HLO without TensorFlow. Each variant runs in processes of its own, in turns.
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

from benchmarks import hpu_bench

ROOT = pathlib.Path(__file__).resolve().parents[1]


@dataclasses.dataclass(frozen=True)
class StepTimes:
    """Best mean seconds of one step, by variant."""

    model: str
    tensorflow: float
    stream: float
    execute: float

    @property
    def ratio(self) -> float:
        return self.tensorflow / self.execute


def time_in_tensorflow(model: str, program: pathlib.Path, seconds: float) -> float:
    """Writes the step's HLO to `program`, and returns the best mean time of a step in three turns."""
    from benchmarks.measure import best_mean
    from benchmarks.models import PROBLEMS, Trainer
    from benchmarks.train_step import repeated
    from habana_frameworks.tensorflow import load_habana_module

    load_habana_module()
    problem, device = PROBLEMS[model], "/device:HPU:0"
    shown = Trainer(problem, device, jit_compile=True)
    program.write_bytes(shown.hlo(*shown.to_device(problem.batch())))
    steps = repeated(Trainer(problem, device), problem.batch())
    steps(3)
    return best_mean(steps, seconds, rounds=3)


def _tensorflow(model: str, program: pathlib.Path, seconds: float) -> float:
    command = [sys.executable, "-m", "benchmarks.plugin_steps", model, "--program", str(program)]
    done = subprocess.run(
        [*command, "--seconds", str(seconds)], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
    )
    return float(done.stdout.splitlines()[-1])


def measure(model: str, rounds: int, seconds: float) -> StepTimes:
    best: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder, "step.hlo")
        for _ in range(rounds):
            found = {"tensorflow": _tensorflow(model, program, seconds)}
            client = hpu_bench.best_times("step by", {"HPU_BENCH_PROGRAM": str(program)}, seconds=seconds)
            found["stream"] = next(value for name, value in client.items() if "stream" in name)
            found["execute"] = next(value for name, value in client.items() if "Execute" in name)
            best = {variant: min(value, best.get(variant, value)) for variant, value in found.items()}
    return StepTimes(model, **best)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", default=["mlp", "cnn", "transformer"], help="default: mlp cnn transformer")
    parser.add_argument("--rounds", type=int, default=2, help="processes of each variant (default: 2)")
    parser.add_argument("--seconds", type=float, default=1.0, help="length of a turn (default: 1)")
    parser.add_argument("--json", action="store_true", help="print one JSON object for programs")
    parser.add_argument("--program", type=pathlib.Path, help=argparse.SUPPRESS)  # of the process that runs TensorFlow
    arguments = parser.parse_args()
    os.environ.setdefault("HPU_BACKEND", "pjrt:cpu")
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    if arguments.program is not None:
        print(time_in_tensorflow(arguments.models[0], arguments.program, arguments.seconds))
        return 0
    try:
        times = [measure(model, arguments.rounds, arguments.seconds) for model in arguments.models]
    except hpu_bench.MissingProgramError as error:
        print(error, file=sys.stderr)
        return 1
    if arguments.json:
        print(json.dumps({"backend": os.environ["HPU_BACKEND"], "steps": [dataclasses.asdict(one) for one in times]}))
        return 0
    print(f"one step, in milliseconds ({os.environ['HPU_BACKEND']})")
    print(f"{'model':<14}{'TensorFlow':>12}{'stream':>12}{'Execute':>12}{'TensorFlow / Execute':>24}")
    for one in times:
        milliseconds = "".join(f"{1e3 * value:>12.2f}" for value in (one.tensorflow, one.stream, one.execute))
        print(f"{one.model:<14}{milliseconds}{one.ratio:>24.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
