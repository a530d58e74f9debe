"""One case of the Keras sweep: a part of tf.keras, run on the CPU and on the HPU."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import enum
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import tensorflow as tf

from habana_frameworks.tensorflow import statistics
from habana_frameworks.tensorflow.explanation import Explanation, rules
from habana_frameworks.tensorflow.explanation.collect import Collector
from tests.support.compare import CPU, HPU, as_numpy

# Accepted difference relative to the result's largest value, for dtypes with rounding.
LIMITS = {"float32": 3e-4, "float64": 1e-9, "bfloat16": 5e-2, "float16": 5e-3}
# Accepted difference of mean and deviation of random numbers, relative to the deviation.
RANDOM_LIMIT = 0.25


class Verdict(enum.Enum):
    """Outcome of a case."""

    HPU = "wholly on the HPU"
    PARTLY = "partly on the CPU"
    HOST = "on the host"
    WRONG = "wrong number"
    FAILED = "failed"


@dataclasses.dataclass(frozen=True)
class Case:
    """`make` is called per device and returns a callable for tensors of `inputs`. The callable may have weights."""

    kind: str
    name: str
    make: Callable[[], Any]
    inputs: tuple[Any, ...]
    # Further arguments of the calls.
    options: dict[str, Any] = dataclasses.field(default_factory=dict)
    # The callable draws random numbers: compares mean and deviation instead of values.
    random: bool = False
    gradients: bool = True
    variant: str = ""
    # Replacement that the CPU computes if it does not support the callable.
    reference: Callable[[], Any] | None = None
    # Whether the CPU also computes in a tf.function, for callables that count traces.
    traced: bool = False
    # Reason why the case never runs on the device. Such a case runs once, on the host.
    host: str = ""

    @property
    def title(self) -> str:
        return f"{self.kind}.{self.name}" + (f" ({self.variant})" if self.variant else "")


@dataclasses.dataclass(frozen=True)
class Outcome:
    """Result of a case. `reasons`: op types off the HPU with their reasons, or the error."""

    title: str
    verdict: Verdict
    hpu_ops: int = 0
    ops: int = 0
    reasons: tuple[str, ...] = ()


class Step:
    """Calls a callable, and computes gradients of its results with respect to inputs and weights."""

    def __init__(self, case: Case, called: Any) -> None:
        self._case, self._called = case, called

    @property
    def weights(self) -> list[Any]:
        found: Any = getattr(self._called, "weights", None) or getattr(self._called, "variables", ())
        return [weight for weight in found if weight.dtype.is_floating or weight.dtype.is_integer]

    def __call__(self, *inputs: Any) -> Any:
        if not self._case.gradients:
            return self._called(*inputs, **self._case.options)
        floats = [value for value in tf.nest.flatten(inputs) if value.dtype.is_floating]
        with tf.GradientTape() as tape:
            tape.watch(floats)
            results = self._called(*inputs, **self._case.options)
            parts = [value for value in tf.nest.flatten(results, True) if value.dtype.is_floating]
            if not parts:
                return results
            loss = tf.add_n([_weighted(part) for part in parts])
        weights = list(getattr(self._called, "trainable_weights", ()))
        gradients = tape.gradient(loss, [*floats, *weights], unconnected_gradients="zero")
        return results, [tf.convert_to_tensor(gradient) for gradient in gradients]


def _weighted(y: tf.Tensor) -> tf.Tensor:
    """Scalar whose gradient differs per element. Plain sums would hide errors that normalisation cancels."""
    y = tf.cast(y, tf.float32)
    weights = tf.cos(tf.cast(tf.range(tf.size(y)), tf.float32))
    return tf.reduce_sum(tf.reshape(y, [-1]) * weights) + 0.5 * tf.reduce_sum(y**2)


def run(case: Case) -> Outcome:
    """Runs the case on both devices and compares the results. A case with `host` runs on the CPU only."""
    try:
        if case.host:
            with tf.device(CPU):
                case.make()(*_tensors(case), **case.options)
            return Outcome(case.title, Verdict.HOST, reasons=(case.host,))
        return _run(case)
    except Exception as error:
        lines = [line for line in str(error).strip().splitlines() if line.strip()]
        return Outcome(case.title, Verdict.FAILED, reasons=(f"{type(error).__name__}: {' '.join(lines)[:300]}",))


def _tensors(case: Case) -> list[Any]:
    return [tf.nest.map_structure(tf.constant, value) for value in case.inputs]


def _run(case: Case) -> Outcome:
    tf.keras.utils.set_random_seed(7)
    with tf.device(CPU):
        reference = Step(case, (case.reference or case.make)())
        compute = tf.function(reference) if case.traced else reference
        compute(*_tensors(case))
        initial = [weight.numpy() for weight in reference.weights]
        expected = [compute(*_tensors(case)), [tf.identity(weight) for weight in reference.weights]]
    tf.keras.utils.set_random_seed(7)
    with tf.device(HPU):
        step = Step(case, case.make())
        graph = tf.function(step)
        with _collected() as explanations:
            graph(*_tensors(case))
            for weight, value in zip(step.weights, initial):
                weight.assign(value)
            actual = [graph(*_tensors(case)), [tf.identity(weight) for weight in step.weights]]
    wrong = _difference(case, actual, expected)
    hpu_ops, ops, reasons = _placement(explanations[0])
    if wrong:
        return Outcome(case.title, Verdict.WRONG, hpu_ops, ops, (wrong,))
    return Outcome(case.title, Verdict.PARTLY if reasons else Verdict.HPU, hpu_ops, ops, reasons)


@contextlib.contextmanager
def _collected() -> Iterator[list[Explanation]]:
    """Collects one explanation of the ops in the `with` block."""
    statistics.reset()
    collector, found = Collector(), list[Explanation]()
    collector.start()
    try:
        yield found
    finally:
        found.append(collector.stop())


def _placement(explanation: Explanation) -> tuple[int, int, tuple[str, ...]]:
    """Returns the number of ops on the HPU, the number of computing ops, and the ops elsewhere."""
    elsewhere: dict[str, str] = collections.OrderedDict()
    ops = hpu_ops = 0
    for graph in explanation.graphs:
        for op in graph.ops:
            if (
                op.type == "Const"
                or op.type.startswith("HabanaCheck")
                or (op.rule is not None and rules.find(op.rule).expected and not op.cpu_runs)
            ):
                continue
            ops += 1
            fell_back = op.rule in ("fallback", "compile-error") or op.cpu_runs
            if op.device.startswith("HPU") and not fell_back:
                hpu_ops += 1
            else:
                elsewhere.setdefault(f"{op.type}: {op.reason or op.rule or 'runs by its CPU kernel'}", "")
    return hpu_ops, ops, tuple(elsewhere)


def _difference(case: Case, actual: Any, expected: Any) -> str:
    """Describes the differences in words; empty without differences."""
    ours, theirs = (tf.nest.flatten(value, expand_composites=True) for value in (actual, expected))
    if len(ours) != len(theirs):
        return f"{len(ours)} results instead of {len(theirs)}"
    for index, (one, other) in enumerate(zip(ours, theirs)):
        one, other = tf.convert_to_tensor(one), tf.convert_to_tensor(other)
        if one.dtype != other.dtype or (one.shape != other.shape and not case.random):
            return f"result {index} is {one.dtype.name}{one.shape} instead of {other.dtype.name}{other.shape}"
        if one.dtype == tf.string or not one.shape.num_elements():
            same = one.dtype != tf.string or case.random or bool(tf.reduce_all(one == other))
            if not same:
                return f"result {index} is other text"
            continue
        text = _number_difference(case, as_numpy(one), as_numpy(other), one.dtype.name)
        if text:
            return f"result {index} ({one.dtype.name}{one.shape}) {text}"
    return ""


def _number_difference(case: Case, one: Any, other: Any, dtype: str) -> str:
    if dtype not in LIMITS:
        return "" if case.random or np.array_equal(one, other) else "is not the same"
    if not np.array_equal(np.isfinite(one), np.isfinite(other)):
        return "is finite elsewhere"
    one, other = (np.where(np.isfinite(value), value, 0).astype(np.float64) for value in (one, other))
    if case.random:
        scale = float(np.std(other)) + 1e-2
        apart = max(abs(np.mean(one) - np.mean(other)), abs(np.std(one) - np.std(other))) / scale
        return "" if one.size < 512 or apart <= RANDOM_LIMIT else f"has another distribution, {apart:.2f} apart"
    apart = float(np.max(np.abs(one - other))) / (float(np.max(np.abs(other))) + 1e-3)
    return "" if apart <= LIMITS[dtype] else f"is off by {apart:.2g} of its largest number"


def given(value: Any) -> Any:
    """Returns the value. For cases in which Case.make has nothing to create."""
    return value


def quiet() -> None:
    """Suppresses Keras's warnings, most of which a sweep triggers on purpose."""
    warnings.filterwarnings("ignore")
    tf.get_logger().setLevel("ERROR")
