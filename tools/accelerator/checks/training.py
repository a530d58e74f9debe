"""Check 7: losses of train steps on the card, compared with the recorded CPU runs. training.py MODEL float32|bfloat16."""

from __future__ import annotations

import argparse
import sys

import tensorflow as tf

from benchmarks.models import PROBLEMS
from habana_frameworks.tensorflow import load_habana_module, statistics
from tools.accelerator import record, training
from tools.accelerator.checks import outcome
from tools.accelerator.corpus import Losses

# Accepted difference of a loss, relative to the first loss: in float32, if both CPU runs agree more closely, because
# they may agree by chance; and in bfloat16.
_FLOOR, _BFLOAT16_TOLERANCE = 1e-5, 1e-1


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
    first = recorded.kernels[0]
    in_float32 = arguments.precision == "float32"
    tolerance = max(recorded.spread(), _FLOOR * first) if in_float32 else _BFLOAT16_TOLERANCE * first
    distance = recorded.distance(losses)
    counts = statistics.get()
    values = {
        "losses": losses,
        "losses of TensorFlow's kernels on the CPU": recorded.kernels,
        "losses of XLA on the CPU": recorded.xla,
        "largest difference from the closer CPU run": distance,
        "largest difference of the CPU runs": recorded.spread(),
        "tolerance": tolerance,
        "first step, s": seconds,
        "clusters": len(counts.launched_clusters),
        "fallbacks": counts.fallbacks,
    }
    good = distance <= tolerance and counts.fallbacks == 0 and losses[-1] < losses[0]
    summary = f"loss {losses[0]:.4g} to {losses[-1]:.4g}; largest difference {distance:.1e}, accepted {tolerance:.1e}"
    return outcome.report(good, summary, values)


if __name__ == "__main__":
    sys.exit(main())
