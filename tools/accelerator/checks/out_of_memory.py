"""Check 6: RESOURCE_EXHAUSTED when device memory runs out, and further training in the same process."""

from __future__ import annotations

import sys

import tensorflow as tf

from benchmarks.models import PROBLEMS, Trainer
from habana_frameworks.tensorflow import habana_device, load_habana_module
from tools.accelerator.checks import outcome

_MAX_TEXT = 600


def _exhaust(limit: int) -> str:
    """Runs a program whose temporaries exceed `limit` bytes. Returns the error's text, or "" without an error."""
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
    continues = "training continues" if trains else "training does not continue"
    summary = f"{'RESOURCE_EXHAUSTED' if error else 'no error'}, {continues}"
    return outcome.report(bool(error) and trains, summary, values)


if __name__ == "__main__":
    sys.exit(main())
