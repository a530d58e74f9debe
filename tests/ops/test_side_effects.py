"""Side effects of loops and branches in graphs without automatic control dependencies depend on the fetched results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tests.support.compare import CPU, HPU

pytestmark = pytest.mark.usefixtures("hpu")

v1 = tf.compat.v1
Variables = list[Any]


def _assign(variables: Variables, first: int) -> list[Any]:
    return [variable.assign(first + i) for i, variable in enumerate(variables)]


def _cond(variables: Variables, p: tf.Tensor) -> list[Any]:
    return list(tf.cond(p, lambda: _assign(variables, 1), lambda: _assign(variables, 4)))


def _cond_of_operations(variables: Variables, p: tf.Tensor) -> list[Any]:
    return list(
        v1.cond(p, lambda: [v.op for v in _assign(variables, 1)], lambda: [v.op for v in _assign(variables, 4)])
    )


def _case(variables: Variables, p: tf.Tensor) -> list[Any]:
    branches = [lambda: _assign(variables, 1), lambda: _assign(variables, 4)]
    return list(tf.switch_case(tf.cast(p, tf.int32), branches))


def _loop(variables: Variables, p: tf.Tensor) -> list[Any]:
    def body(i: tf.Tensor, x: tf.Tensor, _: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        variables[2].assign_add(1)
        with tf.control_dependencies([variables[0].assign_add(i)]):
            return i + 1, x + 1, variables[1].assign_add(2)

    return list(tf.while_loop(lambda i, *_: i < 3, body, (tf.cast(p, tf.int32), 0, 0)))


def _nested(variables: Variables, p: tf.Tensor) -> list[Any]:
    return [tf.cond(p, lambda: _cond(variables, p)[1], lambda: tf.constant(0)), variables[2].assign_add(1)]


def _unused(variables: Variables, p: tf.Tensor) -> list[Any]:
    def branch() -> tf.Tensor:
        variables[0].assign(5)
        return tf.constant(1)

    return [tf.cond(p, branch, lambda: tf.constant(2)), variables[1].assign(3)]


def _all_needed(variables: Variables, p: tf.Tensor) -> list[Any]:
    def branch(first: int) -> list[tf.Tensor]:
        with tf.control_dependencies(_assign(variables, first)):
            return [tf.constant(first), tf.constant(first + 1)]

    return list(tf.cond(p, lambda: branch(1), lambda: branch(4)))


def _called(variables: Variables, p: tf.Tensor) -> list[Any]:
    return list(tf.function(lambda: _cond(variables, p))())


PROGRAMS: dict[str, Callable[[Variables, tf.Tensor], list[Any]]] = {
    "cond": _cond,
    "cond of operations": _cond_of_operations,
    "case": _case,
    "loop": _loop,
    "nested": _nested,
    "unused": _unused,
    "all needed": _all_needed,
    "called": _called,
}


def _run(device: str, program: str, fetched: list[int], operations: bool) -> Any:
    with tf.Graph().as_default(), v1.Session() as session, tf.device(device):
        variables = [v1.get_variable(name, initializer=7, use_resource=True) for name in "abc"]
        p = v1.placeholder_with_default(True, [])
        results = PROGRAMS[program](variables, p)
        session.run(v1.global_variables_initializer())
        fetches = [results[i] for i in fetched]
        if operations:
            fetches = [fetch if isinstance(fetch, tf.Operation) else fetch.op for fetch in fetches]
        values = [[np.asarray(value).tolist() for value in session.run(fetches, {p: taken})] for taken in (True, False)]
        return values, session.run(variables)


@pytest.mark.parametrize("operations", [False, True], ids=["values", "operations"])
@pytest.mark.parametrize("fetched", [[0], [1], [0, 1]], ids=str)
@pytest.mark.parametrize("program", PROGRAMS)
def test_sessions(program: str, fetched: list[int], operations: bool) -> None:
    expected, actual = (_run(device, program, fetched, operations) for device in (CPU, HPU))
    assert actual == expected


@pytest.mark.parametrize("program", [name for name in PROGRAMS if name != "called"])
@pytest.mark.parametrize("fetched", [0, 1])
def test_wrapped_functions(program: str, fetched: int) -> None:
    states = []
    for device in (CPU, HPU):
        with tf.device(device):
            variables = [tf.Variable(7) for _ in range(3)]
            wrapped = v1.wrap_function(
                lambda p: PROGRAMS[program](variables, p)[fetched],  # noqa: B023
                [tf.TensorSpec([], tf.bool)],
            )
            values = [np.asarray(wrapped(tf.constant(taken))).tolist() for taken in (True, False)]
            states.append((values, [variable.numpy() for variable in variables]))
    assert states[1] == states[0]
