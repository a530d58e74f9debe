"""Errors of a train step's gradients against float64, on the HPU and on the CPU in float32.

python -m benchmarks.gradients [--model resnet50 mobilenet] [--batch-size 2] [--json]

The error of a variable's gradient is the norm of its difference from the gradient in float64, divided by the norm of
the gradient in float64. If the errors of both devices are of the same order, the model's conditioning causes them,
not an op of the HPU.
Exit code 1: the HPU's error over all variables exceeds --limit times the CPU's.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import numpy.typing as npt
import tensorflow as tf

from benchmarks.models import PROBLEMS, Arrays, Problem
from habana_frameworks.tensorflow import load_habana_module, statistics

CPU = "/device:CPU:0"
HPU = "/device:HPU:0"

# Smallest divisor of an error, as a share of the norm of all gradients. Gradients of biases before batch normalisation
# are 0 except for rounding, so their own norm would be too small.
NEGLIGIBLE = 1e-6

Gradients = list[npt.NDArray[np.float64]]


@dataclasses.dataclass(frozen=True)
class Errors:
    """Relative errors of gradients against float64."""

    total: float
    median: float
    largest: float
    largest_variable: str


@dataclasses.dataclass(frozen=True)
class Comparison:
    model: str
    batch_size: int
    variables: int
    cpu: Errors
    hpu: Errors
    largest_ratio: float
    """Largest ratio of a variable's error on the HPU to its error on the CPU."""
    largest_ratio_variable: str


def gradients_on(problem: Problem, device: str, dtype: str, weights: list[npt.NDArray], batch: Arrays) -> Gradients:
    """Returns the gradients of the loss for the trainable variables of a model with these weights."""
    tf.keras.backend.set_floatx(dtype)
    with tf.device(device):
        model = problem.build()
        model.set_weights(weights)
        inputs, labels = tf.constant(batch[0], dtype), tf.constant(batch[1])

        @tf.function
        def gradients(inputs: tf.Tensor, labels: tf.Tensor) -> list[tf.Tensor]:
            with tf.GradientTape() as tape:
                logits = model(inputs, training=True)
                losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
                loss = tf.reduce_mean(losses)
            found: list[tf.Tensor] = tape.gradient(loss, model.trainable_variables)
            return found

        results = [gradient.numpy().astype(np.float64) for gradient in gradients(inputs, labels)]
    tf.keras.backend.set_floatx("float32")
    return results


def relative_errors(got: Gradients, want: Gradients) -> npt.NDArray[np.float64]:
    floor = NEGLIGIBLE * np.sqrt(sum(np.sum(w**2) for w in want))
    return np.array([np.linalg.norm(g - w) / max(np.linalg.norm(w), floor) for g, w in zip(got, want)])


def summary(got: Gradients, want: Gradients, names: list[str]) -> Errors:
    errors = relative_errors(got, want)
    total = np.sqrt(sum(np.sum((g - w) ** 2) for g, w in zip(got, want)) / sum(np.sum(w**2) for w in want))
    worst = int(errors.argmax())
    return Errors(float(total), float(np.median(errors)), float(errors[worst]), names[worst])


def compare(name: str, batch_size: int) -> Comparison:
    tf.keras.utils.set_random_seed(1)
    problem = dataclasses.replace(PROBLEMS[name], batch_size=batch_size)
    with tf.device(CPU):
        model = problem.build()
    weights, names = model.get_weights(), [variable.name for variable in model.trainable_variables]
    batch = problem.batch()
    exact = gradients_on(problem, CPU, "float64", weights, batch)
    on_cpu = gradients_on(problem, CPU, "float32", weights, batch)
    statistics.reset()
    on_hpu = gradients_on(problem, HPU, "float32", weights, batch)
    assert statistics.get().fallbacks == 0, "a cluster ran on the CPU: run hpu explain for the reason"
    ratios = relative_errors(on_hpu, exact) / np.maximum(relative_errors(on_cpu, exact), 1e-12)
    worst = int(ratios.argmax())
    return Comparison(
        name,
        batch_size,
        len(names),
        summary(on_cpu, exact, names),
        summary(on_hpu, exact, names),
        float(ratios[worst]),
        names[worst],
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", nargs="+", choices=PROBLEMS, default=["resnet50", "mobilenet"])
    parser.add_argument("--batch-size", type=int, default=2)
    parser.add_argument(
        "--limit", type=float, default=3.0, help="of the HPU's error, in errors of the CPU (default: 3)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    arguments = parser.parse_args()
    load_habana_module()
    comparisons = [compare(name, arguments.batch_size) for name in arguments.model]
    if arguments.json:
        print(json.dumps([dataclasses.asdict(comparison) for comparison in comparisons], indent=2))
    else:
        for found in comparisons:
            print(f"{found.model}, batch {found.batch_size}, {found.variables} variables")
            for device, errors in (("CPU", found.cpu), ("HPU", found.hpu)):
                print(
                    f"  {device}: all {errors.total:.2e}, median {errors.median:.2e}, "
                    f"largest {errors.largest:.2e} ({errors.largest_variable})"
                )
            print(f"  largest ratio of a variable: {found.largest_ratio:.1f} ({found.largest_ratio_variable})")
    return int(any(found.hpu.total > arguments.limit * found.cpu.total for found in comparisons))


if __name__ == "__main__":
    sys.exit(main())
