"""Check 6: the error when device memory runs out, and that the process trains on afterwards."""

from __future__ import annotations

import sys

import tensorflow as tf

from benchmarks.models import PROBLEMS, Trainer
from habana_frameworks.tensorflow import habana_device, load_habana_module
from tools.accelerator.checks import outcome

_MAX_TEXT = 600


def _exhaust(limit: int) -> str:
    """Asks for temporaries larger than the device; returns the error, or an empty string without one."""
    side = int((limit // 4) ** 0.5)

    @tf.function(jit_compile=True)
    def product(x: tf.Tensor) -> tf.Tensor:
        square = tf.tensordot(x, x, axes=0)
        return tf.reduce_sum(tf.sort(tf.sort(square) + tf.transpose(square)))

    with tf.device(outcome.HPU):
        try:
            product(tf.random.uniform([side])).numpy()
        except tf.errors.ResourceExhaustedError as error:
            return f"{type(error).__name__}: {error.message}"
    return ""


def main() -> int:
    if outcome.is_cpu():
        return outcome.skip("CPU plugins do not limit memory")
    load_habana_module()
    problem = PROBLEMS["mlp"]
    trainer = Trainer(problem, outcome.HPU)
    before = trainer.losses(problem.batch(), 5)
    limit = habana_device.memory_info().limit
    error = _exhaust(limit)
    after = trainer.losses(problem.batch(), 5)
    values = {"limit": limit, "error": error[:_MAX_TEXT], "losses before": before, "losses after": after}
    trains = after[-1] < after[0] <= before[-1]
    summary = ("RESOURCE_EXHAUSTED" if error else "no error") + (", trains on" if trains else ", does not train on")
    return outcome.report(bool(error) and trains, summary, values)


if __name__ == "__main__":
    sys.exit(main())
