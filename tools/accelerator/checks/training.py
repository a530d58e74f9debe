"""Check 7: losses of train steps on the card, compared with the CPU. training.py MODEL float32|bfloat16."""

from __future__ import annotations

import argparse
import sys
import time

import tensorflow as tf

from benchmarks.models import PROBLEMS, Trainer
from habana_frameworks.tensorflow import load_habana_module, statistics
from tools.accelerator import programs, record
from tools.accelerator.checks import outcome

_STEPS = 10
# Accepted difference of a loss, relative to the first loss, because later losses approach zero.
_TOLERANCES = {"float32": 1e-2, "bfloat16": 1e-1}
# ResNet-50 on eight images amplifies rounding from step to step: two compilers for one processor differ by 4 % of the
# loss after one step. The check compares only its first two losses, with this tolerance in float32.
_AMPLIFYING, _JUDGED, _AMPLIFIED_TOLERANCE = "resnet50", 2, 1e-1


def _train(model: str, device: str) -> tuple[list[float], float]:
    """Returns the losses, and the seconds until the first loss."""
    problem = PROBLEMS[model]
    trainer = Trainer(problem, device)
    programs.set_weights(trainer.model)
    begin = time.perf_counter()
    (first,) = trainer.losses(problem.batch(), 1)
    seconds = time.perf_counter() - begin
    return [first, *trainer.losses(problem.batch(), _STEPS - 1)], seconds


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", choices=PROBLEMS)
    parser.add_argument("precision", choices=_TOLERANCES)
    arguments = parser.parse_args()
    load_habana_module()
    tf.config.experimental.enable_tensor_float_32_execution(False)
    expected, _ = _train(arguments.model, outcome.CPU)
    tf.keras.mixed_precision.set_global_policy(record.PRECISIONS[arguments.precision])
    losses, seconds = _train(arguments.model, outcome.HPU)
    tolerance, judged = _TOLERANCES[arguments.precision], _STEPS
    if arguments.model == _AMPLIFYING:
        tolerance, judged = _AMPLIFIED_TOLERANCE, _JUDGED
    error = max(abs(loss - right) for loss, right in zip(losses[:judged], expected)) / expected[0]
    counts = statistics.get()
    values = {
        "losses": losses,
        "losses on the CPU": expected,
        "largest difference": error,
        "steps that are judged": judged,
        "first step, s": seconds,
        "clusters": len(counts.launched_clusters),
        "fallbacks": counts.fallbacks,
    }
    good = error <= tolerance and counts.fallbacks == 0 and losses[-1] < losses[0]
    summary = f"loss {losses[0]:.4g} to {losses[-1]:.4g}; largest difference {error:.1e} of the first loss"
    return outcome.report(good, summary, values)


if __name__ == "__main__":
    sys.exit(main())
