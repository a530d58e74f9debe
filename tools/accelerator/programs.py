"""Programs of the numerics check: gradients of the benchmark models, ops by group, control flow."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from benchmarks.models import CLASSES, PROBLEMS, Problem
from benchmarks.op_cases.case import OpCase
from benchmarks.op_cases.elements import elementary
from benchmarks.op_cases.linear import linear_algebra, products
from benchmarks.op_cases.sorted import sorts
from benchmarks.op_cases.windows import convolutions

Array = npt.NDArray[Any]
# Ops whose results are not unique (decompositions) or dominated by rounding.
_AMBIGUOUS = ("QR", "singular value decomposition", "eigenvalues", "inverse", "determinant", "least squares", "boxes")
# Cases without a CPU kernel.
_WITHOUT_CPU = ("dilated", "grouped")
_ELEMENTS = (64, 256)
_MAX_CASES = 24


@dataclasses.dataclass(frozen=True)
class Built:
    """A program on a device. `labels` are the names of its results, or prefixes of names for several results."""

    function: Callable[..., Any]
    inputs: list[tf.Tensor]
    labels: tuple[str, ...]


def uniform(generator: np.random.Generator, shape: Sequence[int], bound: float = 1.0) -> Array:
    """Returns float32 numbers from -bound to bound, with equal bits on every machine."""
    integers = generator.integers(-(1 << 20), 1 << 20, tuple(shape), dtype=np.int64)
    return (integers * (bound / (1 << 20))).astype(np.float32)


def set_weights(model: tf.keras.Model) -> None:
    """Sets the model's weights to equal bits on every machine, with the magnitude of Keras's initial weights."""
    generator = np.random.default_rng(1)
    weights = []
    for variable in model.weights:
        shape = tuple(variable.shape)
        if len(shape) > 1:
            weights.append(uniform(generator, shape, math.sqrt(3 / math.prod(shape[:-1]))))
        else:
            is_scale = any(word in variable.name for word in ("gamma", "variance"))
            weights.append(uniform(generator, shape, 0.01) + np.float32(is_scale))
    model.set_weights(weights)


def _gradients(problem: Problem, device: str) -> Built:
    """Program that computes a model's training loss and the gradients of its weights."""
    generator = np.random.default_rng(2)
    inputs = uniform(generator, (problem.batch_size, *problem.input_shape), math.sqrt(3))
    labels = generator.integers(0, CLASSES, (problem.batch_size, *problem.label_shape), np.int32)
    tf.keras.backend.reset_uids()  # equal names in every build
    with tf.device(device):
        model = problem.build()
        set_weights(model)
        tensors = [tf.constant(inputs), tf.constant(labels)]

    def function(x: tf.Tensor, y: tf.Tensor) -> list[tf.Tensor]:
        with tf.GradientTape() as tape:
            logits = model(x, training=True)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
        return [loss, *tape.gradient(loss, model.trainable_variables)]

    return Built(function, tensors, ("loss", *(variable.name for variable in model.trainable_variables)))


def _cases(cases: Sequence[OpCase], device: str) -> Built:
    """Program that runs all `cases`."""
    inputs = [case.inputs(device) for case in cases]

    def function(*tensors: tf.Tensor) -> list[tf.Tensor]:
        waiting = list(tensors)
        results = []
        for case in cases:
            own, waiting = waiting[: len(case.shapes)], waiting[len(case.shapes) :]
            results.append(case.function(*own))
        return results

    return Built(function, [one for of_case in inputs for one in of_case], tuple(case.label for case in cases))


def _control_flow(device: str) -> Built:
    """Program with a value-dependent loop, a branch, sorting and gathering."""
    generator = np.random.default_rng(3)
    with tf.device(device):
        inputs = [
            tf.constant(uniform(generator, (64, 64))),
            tf.constant(generator.integers(0, 64, (64,), np.int32)),
        ]

    def function(x: tf.Tensor, indices: tf.Tensor) -> list[tf.Tensor]:
        total, steps = tf.while_loop(
            lambda value, _: value < 100.0, lambda value, n: (value * 2.0 + 1.0, n + 1), [1.0, 0]
        )
        chosen = tf.cond(tf.reduce_sum(x) > 3.0, lambda: x * total, lambda: x - 1.0)
        gathered = tf.gather(tf.sort(chosen), indices)
        return [steps, gathered, tf.math.cumsum(gathered, 1), tf.math.unsorted_segment_sum(x, indices, 64)]

    return Built(function, inputs, ("steps", "gathered", "cumulative sums", "segment sums"))


def _chosen(cases: Sequence[OpCase]) -> list[OpCase]:
    """Returns the unambiguous cases in float32, one case per name."""
    found = {
        case.name: case
        for case in cases
        if case.dtype == tf.float32 and not any(word in case.name for word in (*_AMBIGUOUS, *_WITHOUT_CPU))
    }
    return list(found.values())[:_MAX_CASES]


GROUPS: dict[str, Callable[[], Sequence[OpCase]]] = {
    "products": lambda: list(products()),
    "convolutions": lambda: list(convolutions()),
    "elementary": lambda: list(elementary(_ELEMENTS)),
    "sorts": lambda: list(sorts()),
    "linear_algebra": lambda: list(linear_algebra()),
}
NAMES = ("control_flow", *GROUPS, *PROBLEMS)
# Programs whose loops over captured variables fail with jit_compile=True.
WITHOUT_JIT_COMPILE = ("lstm",)


def build(name: str, device: str) -> Built:
    """Builds program `name` on a device, with equal inputs on every machine."""
    if name == "control_flow":
        return _control_flow(device)
    if name in GROUPS:
        return _cases(_chosen(GROUPS[name]()), device)
    return _gradients(PROBLEMS[name], device)


def flat_results(built: Built, results: Any) -> dict[str, Array]:
    """Returns the results by label. Appends a number if one label has several results."""
    found: dict[str, Array] = {}
    for label, result in zip(built.labels, results):
        arrays = tf.nest.flatten(result)
        for number, array in enumerate(arrays):
            found[f"{label}, {number}" if len(arrays) > 1 else label] = tf.convert_to_tensor(array).numpy()
    return found
