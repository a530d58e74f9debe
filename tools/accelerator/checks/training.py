"""Check 7: losses of train steps on the card, beside recorded CPU runs. training.py MODEL float32|bfloat16."""

from __future__ import annotations

import argparse
import dataclasses
import sys
from collections.abc import Sequence

import tensorflow as tf

from benchmarks.models import PROBLEMS
from habana_frameworks.tensorflow import load_habana_module, statistics
from tools.accelerator import record, training
from tools.accelerator.checks import outcome
from tools.accelerator.corpus import Losses

# Accepted differences of a loss, relative to the first loss. The floors are for float32, because two CPU runs may agree
# by chance: of all losses, and of the single last loss of a model that amplifies rounding.
_FLOOR, _AMPLIFIED_FLOOR, _BFLOAT16_TOLERANCE = 1e-5, 1e-4, 1e-1
# If the CPU runs differ by more than this share of the first loss, the model amplifies rounding from step to step, and
# the check compares only the last losses. ResNet-50 on eight images does.
_AMPLIFIED = 1e-2


@dataclasses.dataclass(frozen=True)
class Comparison:
    """Losses beside the recorded CPU runs: the difference from the closer run, and the accepted difference."""

    amplifies: bool
    """Whether the model amplifies rounding, so that only the last loss counts."""
    difference: float
    accepted: float


def compare(recorded: Losses, losses: Sequence[float], precision: str) -> Comparison:
    """Compares the losses with the recorded runs."""
    first = recorded.kernels[0]
    amplifies = recorded.spread() > _AMPLIFIED * first
    judged = slice(-1, None) if amplifies else slice(None)
    floor = (_AMPLIFIED_FLOOR if amplifies else _FLOOR) * first
    accepted = max(recorded.spread(judged), floor) if precision == "float32" else _BFLOAT16_TOLERANCE * first
    return Comparison(amplifies, recorded.distance(losses, judged), accepted)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", choices=PROBLEMS)
    parser.add_argument("precision", choices=record.PRECISIONS)
    arguments = parser.parse_args()
    recorded = Losses.read(outcome.kit() / "corpus" / "losses" / f"{arguments.model}.json")
    load_habana_module()
    tf.config.experimental.enable_tensor_float_32_execution(False)
    tf.keras.mixed_precision.set_global_policy(record.PRECISIONS[arguments.precision])
    losses, seconds = training.train(PROBLEMS[arguments.model], outcome.HPU, training.STEPS)
    compared = compare(recorded, losses, arguments.precision)
    counts = statistics.get()
    values = {
        "losses": losses,
        "losses of TensorFlow's kernels on the CPU": recorded.kernels,
        "losses of XLA on the CPU": recorded.xla,
        "compared": "the last loss" if compared.amplifies else "all losses",
        "largest difference from the closer CPU run": recorded.distance(losses),
        "largest difference of the CPU runs": recorded.spread(),
        "difference that is compared": compared.difference,
        "accepted": compared.accepted,
        "first step, s": seconds,
        "clusters": len(counts.launched_clusters),
        "fallbacks": counts.fallbacks,
    }
    good = compared.difference <= compared.accepted and counts.fallbacks == 0 and losses[-1] < losses[0]
    summary = f"loss {losses[0]:.4g} to {losses[-1]:.4g}; difference {compared.difference:.1e}, "
    summary += f"accepted {compared.accepted:.1e}"
    return outcome.report(good, summary, values)


if __name__ == "__main__":
    sys.exit(main())
