"""Time of a train step on a PJRT plugin's device: by TensorFlow, by a stream of the device, by the plugin's Execute.

All three run the same HLO on the same initial values and read the loss. They copy the labels to the device for each
step, because TensorFlow keeps integers in host memory. A model has two lines: one with a read of every loss, one with a
read of every hundredth loss, so that steps are queued while earlier ones run.

"TensorFlow" runs the step with jit_compile=True, since the HLO of such a function can be read. "clusters" is the same
step without jit_compile: TensorFlow optimises its graph first, so its HLO differs. "host" is the step of "TensorFlow"
on a device that computes nothing (HPU_BACKEND=null): Python, TensorFlow's executor and the plugin's kernel. If every
loss is read, no backend can be faster than Execute plus this time.

HPU_BACKEND selects the plugin (default: pjrt:cpu). `make bench` builds hpu_bench, which runs the HLO without
TensorFlow. In each round, each variant runs in a process of its own; a round's time is the best mean of three turns.
The table shows medians over the rounds, and the quartiles of the rounds' ratios.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from benchmarks import hpu_bench
from benchmarks.measure import Times, best_mean

if TYPE_CHECKING:
    import tensorflow as tf

    from benchmarks.models import Trainer

ROOT = pathlib.Path(__file__).resolve().parents[1]
STEPS_PER_READ = (1, 100)
RATIOS = ("tensorflow", "clusters", "stream")  # to "execute"
VARIANTS = ("tensorflow", "clusters", "stream", "execute", "host")
# Seconds of one step, by steps per read.
StepTimes = dict[int, float]


def reading(trainer: Trainer, tensors: tuple[tf.Tensor, tf.Tensor], steps_per_read: int) -> Callable[[int], None]:
    """Returns a function that runs steps and reads every `steps_per_read`-th loss, and the last one."""

    def run(steps: int) -> None:
        for step in range(1, steps + 1):
            loss = trainer.step(*tensors)
            if step % steps_per_read == 0 or step == steps:
                loss.numpy()

    return run


def write_program(trainer: Trainer, tensors: tuple[tf.Tensor, tf.Tensor], program: pathlib.Path) -> None:
    """Writes the step's HLO, and the current values of its arguments to the file with the suffix .arguments."""
    program.write_bytes(trainer.ir("hlo_serialized", *tensors))
    recipe = trainer.ir("recipe", *tensors).decode()
    inputs = re.findall(r"^argument \d+: .*, input (\d+) of the function$", recipe, re.MULTILINE)
    values = trainer.inputs_of_step(*tensors)
    program.with_name(f"{program.name}.arguments").write_bytes(b"".join(values[int(i)].tobytes() for i in inputs))


def time_in_tensorflow(model: str, program: pathlib.Path, seconds: float) -> dict[str, StepTimes]:
    """Writes the step for hpu_bench, and returns the best mean time of a step in three turns, by variant."""
    from benchmarks.models import PROBLEMS, Trainer
    from habana_frameworks.tensorflow import load_habana_module

    load_habana_module()
    problem, device = PROBLEMS[model], "/device:HPU:0"
    compiled = Trainer(problem, device, jit_compile=True)
    weights = compiled.model.get_weights()
    tensors = compiled.to_device(problem.batch())
    write_program(compiled, tensors, program)
    times: dict[str, StepTimes] = {}
    for variant, trainer in (("tensorflow", compiled), ("clusters", Trainer(problem, device, weights=weights))):
        times[variant] = {}
        for steps_per_read in STEPS_PER_READ:
            steps = reading(trainer, tensors, steps_per_read)
            steps(3)
            times[variant][steps_per_read] = best_mean(steps, seconds, rounds=3)
    return times


def _tensorflow(model: str, program: pathlib.Path, seconds: float, backend: str) -> dict[str, StepTimes]:
    command = [sys.executable, "-m", "benchmarks.plugin_steps", model, "--program", str(program)]
    command += ["--seconds", str(seconds)]
    environment = {**os.environ, "HPU_BACKEND": backend}
    done = subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    found = json.loads(done.stdout.splitlines()[-1])
    return {variant: {int(steps): value for steps, value in times.items()} for variant, times in found.items()}


def _round(model: str, program: pathlib.Path, seconds: float) -> dict[str, StepTimes]:
    found = _tensorflow(model, program, seconds, os.environ["HPU_BACKEND"])
    found["host"] = _tensorflow(model, program.with_name("unused.hlo"), seconds, "null")["tensorflow"]
    for variant, pattern in (("stream", "step by a stream"), ("execute", "step by the plugin")):
        client = hpu_bench.best_times(pattern, {"HPU_BENCH_PROGRAM": str(program)}, seconds=seconds)
        found[variant] = {int(name.split("/")[1]): value for name, value in client.items()}
    return found


def measure(model: str, rounds: int, seconds: float) -> list[dict[str, Any]]:
    """Returns one row per number of steps per read."""
    with tempfile.TemporaryDirectory() as folder:
        found = [_round(model, pathlib.Path(folder, "step.hlo"), seconds) for _ in range(rounds)]
    rows = []
    for steps in STEPS_PER_READ:
        times = Times({variant: [one[variant][steps] for one in found] for variant in VARIANTS}, {})
        row: dict[str, Any] = {"model": model, "steps_per_read": steps}
        row |= {f"{variant}_seconds": times.summary(variant).median for variant in VARIANTS}
        row |= {f"{name}_ratio": dataclasses.asdict(times.ratio(name, "execute")) for name in RATIOS}
        rows.append(row)
    return rows


def print_rows(rows: list[dict[str, Any]]) -> None:
    heads = "".join(f"{name:>12}" for name in ("TensorFlow", "clusters", "stream", "Execute", "host"))
    print(f"{'model':<13}{'steps per read':>14}{heads}   ratios to Execute: TensorFlow, clusters, stream")
    for row in rows:
        times = "".join(f"{1e3 * row[f'{variant}_seconds']:>12.2f}" for variant in VARIANTS)
        ratios = [row[f"{name}_ratio"] for name in RATIOS]
        texts = [f"{ratio['median']:.2f} ({ratio['low']:.2f} to {ratio['high']:.2f})" for ratio in ratios]
        print(f"{row['model']:<13}{row['steps_per_read']:>14}{times}   {', '.join(texts)}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", default=["mlp", "cnn", "transformer"], help="default: mlp cnn transformer")
    parser.add_argument("--rounds", type=int, default=5, help="processes of each variant (default: 5)")
    parser.add_argument("--seconds", type=float, default=1.0, help="length of a turn (default: 1)")
    parser.add_argument("--json", action="store_true", help="print one JSON object for programs")
    parser.add_argument("--program", type=pathlib.Path, help=argparse.SUPPRESS)  # of the process that runs TensorFlow
    arguments = parser.parse_args()
    os.environ.setdefault("HPU_BACKEND", "pjrt:cpu")
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    if arguments.program is not None:
        print(json.dumps(time_in_tensorflow(arguments.models[0], arguments.program, arguments.seconds)))
        return 0
    try:
        rows = [row for model in arguments.models for row in measure(model, arguments.rounds, arguments.seconds)]
    except hpu_bench.MissingProgramError as error:
        print(error, file=sys.stderr)
        return 1
    if arguments.json:
        print(json.dumps({"backend": os.environ["HPU_BACKEND"], "steps": rows}, indent=2))
    else:
        print(f"one step, in milliseconds ({os.environ['HPU_BACKEND']})")
        print_rows(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
