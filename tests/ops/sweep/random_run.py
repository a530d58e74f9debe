"""Execution of a random program of changing sizes on the CPU and on the HPU, and comparison of each call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from tests.ops.sweep import modes
from tests.ops.sweep.random_ops import CLASSES
from tests.ops.sweep.random_program import ARGUMENTS, Program, generate
from tests.ops.sweep.records import Array, Outcome, RandomRun
from tests.support.compare import CPU, HPU

_RTOL, _ATOL = 1e-4, 1e-5  # _ATOL: relative to the largest number of an array above 1
_RATE = 0.1


def _weights(*shape: int) -> Any:
    return tf.constant(np.random.default_rng(list(shape)).standard_normal(shape).astype(np.float32) * 0.5)


def _layer_norm(x: Any, axis: int) -> Any:
    mean, variance = tf.nn.moments(x, [axis], keepdims=True)
    return (x - mean) * tf.math.rsqrt(variance + 0.1)  # larger factors magnify rounding


class _Machine:
    """A program on one device, with its variables."""

    def __init__(self, program: Program, device: str) -> None:
        self._program, self._device = program, device
        with tf.device(device):
            made = {"kernel": (4, 3), "bias": (3,), "table": (CLASSES, 4)} if program.step else {}
            self._named = {name: tf.Variable(_weights(*shape)) for name, shape in made.items()}
            slots = 2 if program.step == "adam" else 0
            self._slots = {name: [tf.Variable(tf.zeros(shape)) for _ in range(slots)] for name, shape in made.items()}
            self._variables = [*self._named.values(), *(slot for pair in self._slots.values() for slot in pair)]
        self._start = [variable.numpy() for variable in self._variables]
        specs = [tf.TensorSpec([d if isinstance(d, int) else None for d in a.shape], a.dtype) for a in ARGUMENTS]
        self._function = tf.function(self._body, autograph=False, input_signature=specs)

    def reset(self) -> None:
        for variable, value in zip(self._variables, self._start):
            variable.assign(value)

    def copy(self, other: _Machine) -> None:
        """Takes the variables of another device, so that small differences do not grow from call to call."""
        for variable, value in zip(self._variables, other._variables):
            variable.assign(value.numpy())

    def call(self, arrays: Sequence[Array]) -> Outcome:
        """Returns the results and the variables."""

        def run() -> Any:
            with tf.device(self._device):
                results = self._function(*map(tf.constant, arrays))
            return [modes.to_arrays(results), [variable.numpy() for variable in self._variables]]

        return modes.outcome(run)

    def _body(self, *arguments: Any) -> Any:
        names: dict[str, Any] = {argument.text: tensor for argument, tensor in zip(ARGUMENTS, arguments)}
        names |= {"tf": tf, "weights": _weights, "layer_norm": _layer_norm, **self._named}
        with tf.GradientTape() as tape:
            for name, text in self._program.lines:
                names[name] = eval(text, names)
            function = tf.reduce_mean if self._program.mean else tf.reduce_sum
            losses = [function(tf.tanh(names[name])) for name in self._program.losses]
            loss = tf.add_n(losses) if losses else None
        if loss is not None:
            gradients = tape.gradient(loss, [*self._named.values()])
            for (name, variable), gradient in zip(self._named.items(), gradients):
                if gradient is not None:
                    self._update(name, variable, gradient)
        return [names[name] for name in self._program.results], [] if loss is None else [loss]

    def _update(self, name: str, variable: Any, gradient: Any) -> None:
        if self._program.step == "sparse" and isinstance(gradient, tf.IndexedSlices):
            variable.scatter_sub(tf.IndexedSlices(_RATE * gradient.values, gradient.indices))
            return
        gradient = tf.convert_to_tensor(gradient)
        if self._program.step == "adam":
            first, second = self._slots[name]
            first.assign(0.9 * first + 0.1 * gradient)
            second.assign(0.99 * second + 0.01 * gradient**2)
            gradient = first / (tf.sqrt(second) + 0.1)
        variable.assign_sub(_RATE * gradient)


def difference(expected: Outcome, actual: Outcome) -> str:
    """Describes the difference; empty if the outcomes agree. Errors agree if their classes do."""
    if not expected.ok or not actual.ok:
        if expected.error == actual.error:
            return ""
        ours, theirs = (f"{one.error}: {one.text[:300]}" if one.error else "a value" for one in (actual, expected))
        return f"{ours} | the CPU: {theirs}"
    for i, (one, other) in enumerate(zip(expected.arrays, actual.arrays)):
        if (one.dtype, one.shape) != (other.dtype, other.shape):
            return f"result {i}: {other.dtype}{list(other.shape)} instead of {one.dtype}{list(one.shape)}"
        if differs := _differs(one, other):
            return f"result {i}{list(one.shape)}: {differs}"
    return ""


def _differs(expected: Array, actual: Array) -> str:
    if expected.dtype.kind == "f":
        finite = np.abs(expected[np.isfinite(expected)])
        scale = max(1.0, float(finite.max())) if finite.size else 1.0
        same = np.isclose(actual, expected, _RTOL, _ATOL * scale, equal_nan=True)
    else:
        same = actual == expected
    if np.all(same):
        return ""
    place = tuple(int(i) for i in np.argwhere(~same)[0])
    count = int(np.count_nonzero(~same))
    return f"{actual[place]} instead of {expected[place]} at {place}, {count} of {expected.size} differ"


def _finite(outcome: Outcome) -> bool:
    return outcome.ok and all(np.all(np.isfinite(array)) for array in outcome.arrays if array.dtype.kind == "f")


def run(seed: int) -> Iterator[Any]:
    """Yields the number of each call before it begins, and a RandomRun at the end."""
    from habana_frameworks.tensorflow import statistics

    program = generate(seed)
    statistics.reset()
    machines = [_Machine(program, device) for device in (CPU, HPU)]
    found, errors, last = "", 0, ""
    for call in range(len(program.sizes)):
        yield call
        expected, actual = (machine.call(program.arrays(call)) for machine in machines)
        errors += not expected.ok
        last = expected.text if not expected.ok else last
        if differs := difference(expected, actual):
            found = f"call {call}, {program.sizes[call]}: {differs}"
            break
        if program.step and not _finite(expected):
            machines[0].reset()
        machines[1].copy(machines[0])
    clusters = statistics.get().launched_clusters
    repeats = len(program.sizes) - len(set(program.sizes))
    yield RandomRun(
        seed,
        found,
        errors,
        last,
        launches=sum(one.launches for one in clusters),
        recipes=sum(one.recipes for one in clusters),
        clusters=len(clusters),
        bounded=sum(one.launches - one.recipes > repeats for one in clusters),
        listing=tuple(program.listing()),
    )
