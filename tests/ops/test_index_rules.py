"""Index rules and value rules, on each way on which an op is checked: the CPU's value or error, and its variables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
import tensorflow as tf

from habana_frameworks.tensorflow import statistics
from tests.ops.index_rule_cases import (
    BRANCH,
    COMPUTED,
    CONSTANT,
    EAGER,
    GIVEN,
    INDEX_CASES,
    INNER,
    LOOP,
    WAYS,
    WIDE,
    Arguments,
    Case,
)
from tests.ops.value_rule_cases import VALUE_CASES
from tests.support.compare import CPU, HPU
from tests.support.error_text import has_line, own_lines

pytestmark = pytest.mark.usefixtures("hpu")

CASES = INDEX_CASES | VALUE_CASES
Step = Callable[..., tf.Tensor]
LATE = (GIVEN, COMPUTED, LOOP, BRANCH)
# Faults of the plugin.
BATCH = "the CPU kernel accepts an index into another batch, and the check does not"
ROW_BEFORE = "the CPU kernel updates the rows before the invalid index"
EMPTY_TABLE = "the CPU kernel has a text of its own for an empty table"
NAN_MATRIX = "the CPU kernel refuses a matrix of NaN, and the check does not"
INFINITE_MATRIX = "the CPU kernel accepts an infinite matrix, and the check does not"
FAULTS = {
    **{(f"lookup-{dtype}-batch", way): BATCH for dtype in WIDE for way in (EAGER, *LATE)},
    **{(f"scatter-add-{dtype}-row-before", way): ROW_BEFORE for dtype in WIDE for way in WAYS},
    ("gather-nd-int32-empty-slices", GIVEN): EMPTY_TABLE,
    **{(f"{op}-nan", way): NAN_MATRIX for op in ("inverse", "lu", "solve") for way in (CONSTANT, *LATE)},
    **{("eigenvalues-infinite", way): INFINITE_MATRIX for way in (EAGER, *LATE)},
}


class Failure(NamedTuple):
    error: type[Exception]
    message: str

    def __str__(self) -> str:
        return f"{self.error.__name__}: {' | '.join(own_lines(self.message))}"


class Calls(NamedTuple):
    """Results or errors of calls, and the variables after each call."""

    results: list[Any]
    variables: list[list[np.ndarray[Any, Any]]]

    @property
    def failures(self) -> int:
        return sum(isinstance(result, Failure) for result in self.results)


def digest(result: tf.Tensor) -> tf.Tensor:
    """Returns a number that depends on each element."""
    values = tf.clip_by_value(tf.reshape(tf.math.real(result), [-1]), tf.cast(-99, result.dtype.real_dtype), 99)
    numbers = tf.cast(values, tf.float32)
    return tf.reduce_sum(numbers * tf.cast(tf.range(1, tf.size(numbers) + 1), tf.float32))


class Machine:
    """The variables of a step, and the step on each way.

    `after` depends on the checked op. `before` does not, and computed arguments depend on it.
    """

    def __init__(self, case: Case) -> None:
        self._case = case
        self._tables = [tf.Variable(case.table) for _ in range(case.variables)]
        self._before, self._after = tf.Variable(0.0), tf.Variable(0.0)

    def values(self) -> list[np.ndarray[Any, Any]]:
        return [variable.numpy() for variable in (*self._tables, self._before, self._after)]

    def _run(self, arguments: tuple[tf.Tensor, ...]) -> tf.Tensor:
        result = self._case.program(*self._tables, *arguments)
        self._after.assign_add(digest(result))
        return result

    def _computed(self, arguments: tuple[tf.Tensor, ...]) -> tuple[tf.Tensor, ...]:
        if self._case.one_launch == INNER:  # a variable's value would be no index of a slice in a cluster
            return tuple(tf.where(tf.tanh(tf.cast(i, tf.float32)) > 2.0, tf.zeros_like(i), i) for i in arguments)
        self._before.assign_add(1.0)
        known = self._before > 0.0  # true
        return tuple(tf.where(known, argument, tf.zeros_like(argument)) for argument in arguments)

    def given(self, *arguments: tf.Tensor) -> tf.Tensor:
        return self._run(arguments)

    def computed(self, *arguments: tf.Tensor) -> tf.Tensor:
        return self._run(self._computed(arguments))

    def branch(self, *arguments: tf.Tensor, taken: tf.Tensor) -> tf.Tensor:
        computed = self._computed(arguments)
        chosen = taken & (self._after < np.inf)
        return tf.cond(chosen, lambda: digest(self._run(computed)), lambda: tf.constant(0.0))

    def loop(self, *arguments: tf.Tensor) -> tf.Tensor:
        """The first iteration has the first arguments of the case."""
        computed = self._computed(arguments)

        def body(i: tf.Tensor, total: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            pairs = zip(self._case.arguments[0], computed)
            return i + 1, total + digest(self._run(tuple(tf.where(i < 1, first, other) for first, other in pairs)))

        return tf.while_loop(lambda i, _: i < 2, body, (tf.constant(0), tf.constant(0.0)))[1]


def constant_step(step: Step, values: Arguments) -> Step:
    """Returns a function whose graph contains the values."""
    return tf.function(lambda: step(*map(tf.constant, values)), autograph=False)


def call_of(step: Step, values: Arguments, **options: bool) -> Callable[[], tf.Tensor]:
    return lambda: step(*map(tf.constant, values), **{name: tf.constant(value) for name, value in options.items()})


def steps(case: Case, way: str, machine: Machine, compiled: bool) -> Iterator[Callable[[], Any]]:
    """Yields the calls of a way."""
    # The first arguments also follow an error.
    arguments = [*case.arguments, case.arguments[0]]
    if way == CONSTANT:
        # Each graph has other constants: the first, the last, and some between them.
        for number in sorted({0, len(case.arguments) // 2, len(case.arguments) - 1}):
            values = case.arguments[number]
            yield constant_step(machine.given, values)
        return
    function: Step = {EAGER: machine.given, GIVEN: machine.given}.get(way) or getattr(machine, way)
    step = tf.function(function, autograph=False) if compiled and way != EAGER else function
    options = {"taken": True} if way == BRANCH else {}
    for values in arguments:
        yield call_of(step, values, **options)
    for values in case.arguments[-2:] if way == BRANCH else ():
        yield call_of(step, values, taken=False)


def calls(case: Case, way: str, device: str) -> Calls:
    """Runs a way. On the CPU, all ways but CONSTANT run eagerly, so that the program's order decides."""
    made = Calls([], [])
    with tf.device(device):
        machine = Machine(case)
        for step in steps(case, way, machine, device == HPU or case.graph_differs):
            result: Any
            try:
                result = step().numpy()
            except (tf.errors.OpError, ValueError) as error:
                result = Failure(type(error), error.message if isinstance(error, tf.errors.OpError) else str(error))
            made.results.append(result)
            made.variables.append(machine.values())
    return made


def assert_close(actual: Any, expected: Any, context: str) -> None:
    tolerance = 0.0 if actual.dtype.kind in "biu" else 1e-4
    np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance, err_msg=context)


def has_same_text(ours: Failure, theirs: Failure) -> bool:
    return has_line(ours.message, own_lines(theirs.message)[-1])


def assert_same(actual: Calls, expected: Calls, own_text: bool) -> None:
    assert len(actual.results) == len(expected.results)
    for i, (ours, theirs) in enumerate(zip(actual.results, expected.results)):
        context = f"call {i}"
        if isinstance(theirs, Failure):
            assert isinstance(ours, Failure), f"{context}: no {theirs}"
            assert ours.error is theirs.error, f"{context}: {ours} instead of {theirs}"
            assert not own_text or has_same_text(ours, theirs), f"{context}: {ours} instead of {theirs}"
        else:
            assert not isinstance(ours, Failure), f"{context}: {ours}"
            assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape), context
            assert_close(ours, theirs, context)
        for one, other in zip(actual.variables[i], expected.variables[i]):
            assert_close(one, other, f"variables after {context}")


def assert_launches(case: Case, way: str, made: Calls) -> None:
    """Checks that the way was taken: where the check ran, and that no cluster ran on the CPU."""
    counts = statistics.get()
    if case.refused:
        return
    assert sum(cluster.fallbacks for cluster in counts.clusters) == 0
    launches = sum(cluster.launches for cluster in counts.clusters)
    number = len(made.results)
    results = [result for result in made.results if not isinstance(result, Failure)]
    if way not in case.one_launch or not results:
        return
    if way == EAGER:
        if results[0].dtype == np.int32:  # in host memory
            return
        assert launches == 0
        assert counts.eager.host_runs == 0
        assert counts.eager.launches >= number - made.failures
    elif way != CONSTANT and results[0].size:
        # Checks of host memory precede the cluster.
        kinds = {argument.dtype == np.int32 for argument in case.arguments[0]}
        most, least = number, number - (made.failures if way == GIVEN else 0)
        assert launches == (most if way != GIVEN or kinds == {False} else least), (launches, number, made.failures)


def parameters() -> Iterator[Any]:
    """Yields each case on each way. A quick run has two ways of each case, and all ways of each kind of rule."""
    for number, (name, case) in enumerate(CASES.items()):
        for way in case.ways:
            reason = FAULTS.get((name, way))
            chosen = case.ways.index(way) % 3 == number % min(3, len(case.ways))
            quick = chosen and not case.slow
            marks = [] if quick else [pytest.mark.slow]
            if case.refused:
                marks.append(pytest.mark.cpu_fallback("the compiler refuses the program"))
            if reason:
                marks.append(pytest.mark.xfail(strict=True, reason=reason))
            yield pytest.param(case, way, id=f"{name}-{way}", marks=marks)


@pytest.mark.parametrize(("case", "way"), parameters())
def test_errors_and_variables_of_the_cpu(case: Case, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HPU_EAGER_COMPILE_AFTER", "0")
    expected = calls(case, way, CPU)
    statistics.reset()
    actual = calls(case, way, HPU)
    assert_same(actual, expected, case.own_text or way == EAGER)
    assert_launches(case, way, actual)


@pytest.mark.xfail(strict=True, reason="the check of a cluster has another text than the CPU kernel")
@pytest.mark.parametrize("name", [name for name, case in CASES.items() if not case.own_text and not case.slow])
def test_texts_of_the_cpu(name: str) -> None:
    way = COMPUTED if COMPUTED in CASES[name].ways else LOOP
    actual, expected = calls(CASES[name], way, HPU), calls(CASES[name], way, CPU)
    pairs = zip(actual.results, expected.results)
    assert all(has_same_text(*pair) for pair in pairs if isinstance(pair[1], Failure))


# Ops that fail for the argument 5.
CHECKED: dict[str, Callable[[tf.Tensor, tf.Tensor], tf.Tensor]] = {
    "index": lambda count, number: tf.gather(tf.ones([5]) * count, number),
    "division": lambda count, number: tf.cast(count, number.dtype) // (number - 5),
    "range": lambda count, number: tf.random.uniform(
        tf.cast([count], tf.int32), maxval=5 - number, dtype=number.dtype, seed=1
    ),
}


@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize("op", CHECKED)
def test_updates_before_the_op_stay(op: str, dtype: str) -> None:
    """An update on which the op depends is done, wherever the op's arguments are."""
    values = []
    for device in (CPU, HPU):
        with tf.device(device):
            count = tf.Variable(0.0)

            @tf.function
            def step(number: tf.Tensor, count: tf.Variable = count) -> tf.Tensor:
                count.assign_add(1.0)
                return CHECKED[op](count, number)

            for _ in range(3):
                with pytest.raises(tf.errors.InvalidArgumentError):
                    step(tf.constant(5, dtype)).numpy()
            values.append(float(count))
    assert values == [3.0, 3.0]
