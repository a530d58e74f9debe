"""Execution modes of a program, and its outcomes."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from tests.ops.sweep.program import Program
from tests.ops.sweep.records import Array, Mode, Outcome

EAGER_CALLS = 4
_GRAPH_CALLS = 2
_ACCOUNT = re.compile(r"\s*(Graph execution error:|Detected at node |File \"|<stack traces|Node: |$)")
_MAX_ELEMENTS = 100_000  # maximum size of a result


class TooLargeError(Exception):
    """The result has too many elements to compare."""


def run(program: Program, mode: Mode, device: str, calls: int | None = None) -> list[Outcome]:
    """Returns an outcome per call. Errors of any class are outcomes."""
    runners: dict[Mode, Callable[[Program, str, int], list[Outcome]]] = {
        Mode.EAGER: _run_eager,
        Mode.GRAPH: _run_graph,
        Mode.JIT: _run_jit,
        Mode.SESSION: _run_session,
        Mode.GRADIENT: _run_gradient,
        Mode.COMPILED_GRADIENT: _run_compiled_gradient,
    }
    times = calls or (EAGER_CALLS if mode is Mode.EAGER else _GRAPH_CALLS)
    return runners[mode](program, device, times)


def outcome(call: Callable[[], Any]) -> Outcome:
    try:
        return Outcome(to_arrays(call()))
    except Exception as error:
        return _failure(error)


def _failure(error: Exception) -> Outcome:
    """Returns an error's outcome, without TensorFlow's stack trace of the node's creation."""
    lines = [line for line in str(error).splitlines() if not _ACCOUNT.match(line)]
    return Outcome(error=type(error).__name__, text="\n".join(lines)[:2000])


def to_arrays(value: Any) -> tuple[Array, ...]:
    """Returns all results as arrays. Omits results without numbers."""
    arrays = []
    for part in tf.nest.flatten(value, expand_composites=True):
        if part is None or isinstance(part, tf.Operation):
            continue
        if tf.is_tensor(part):
            if part.dtype in (tf.resource, tf.variant):
                continue
            if np.prod(part.shape, dtype=np.float64) > _MAX_ELEMENTS:
                raise TooLargeError(f"a result of shape {part.shape} is too large to compare")
            part = part.numpy()
        arrays.append(np.array(part))
    return tuple(arrays)


def _run_eager(program: Program, device: str, calls: int) -> list[Outcome]:
    with tf.device(device):
        return [outcome(lambda: _call_eagerly(program)) for _ in range(calls)]


def _call_eagerly(program: Program) -> Any:
    variables = [tf.Variable(value) for value in program.variables]
    tensors = [tf.constant(array) for array in program.arrays]
    results = to_arrays(program.function(*[v.handle for v in variables], *tensors))
    return [results, [v.numpy() for v in variables]]


def _run_graph(program: Program, device: str, calls: int, jit: bool | None = None) -> list[Outcome]:
    with tf.device(device):
        variables = [tf.Variable(value) for value in program.variables]

        def body(*fed: Any) -> Any:
            tensors = _with_constants(program, fed)
            return tensors_of(program.function(*[v.handle for v in variables], *tensors))

        function = tf.function(body, autograph=False, jit_compile=jit)

        def call() -> Any:
            for variable, value in zip(variables, program.variables):
                variable.assign(value)
            fed = [tf.constant(array) for i, array in enumerate(program.arrays) if i not in program.constants]
            return [to_arrays(function(*fed)), [v.numpy() for v in variables]]

        return [outcome(call) for _ in range(calls)]


def _run_jit(program: Program, device: str, calls: int) -> list[Outcome]:
    return _run_graph(program, device, calls, jit=True)


def tensors_of(value: Any) -> Any:
    """Returns the tensors that a function may return. Omits operations, resources and variants."""
    flat = tf.nest.flatten(value)
    return [part for part in flat if tf.is_tensor(part) and part.dtype not in (tf.resource, tf.variant)]


def _with_constants(program: Program, fed: Sequence[Any]) -> list[Any]:
    rest = iter(fed)
    return [tf.constant(a) if i in program.constants else next(rest) for i, a in enumerate(program.arrays)]


def _run_session(program: Program, device: str, calls: int) -> list[Outcome]:
    with tf.Graph().as_default():
        try:
            fetches, feeds, start, variables = _session_graph(program, device)
        except Exception as error:
            return [_failure(error)]
        config = tf.compat.v1.ConfigProto(allow_soft_placement=True)
        with tf.compat.v1.Session(config=config) as session:

            def call() -> Any:
                session.run(start)
                return [session.run(fetches, feeds), session.run(variables)]

            return [outcome(call) for _ in range(calls)]


def _session_graph(program: Program, device: str) -> tuple[Any, dict[Any, Array], Any, Any]:
    with tf.device(device):
        holders = {
            i: tf.compat.v1.placeholder(array.dtype if array.dtype.kind != "O" else tf.string, array.shape)
            for i, array in enumerate(program.arrays)
            if i not in program.constants
        }
        variables = [
            tf.compat.v1.get_variable(f"v{i}", initializer=value, use_resource=True, trainable=False)
            for i, value in enumerate(program.variables)
        ]
        result = program.function(*[v.handle for v in variables], *_with_constants(program, list(holders.values())))
        others = [part for part in tf.nest.flatten(result) if isinstance(part, tf.Operation)]
        with tf.control_dependencies(others):
            done = [tf.no_op()] if others else []
        start = [v.initializer for v in variables]
        values = [v.value() for v in variables]
    feeds = {holder: program.arrays[i] for i, holder in holders.items()}
    return [tensors_of(result), done], feeds, start, values


def _run_gradient(program: Program, device: str, calls: int, jit: bool | None = None) -> list[Outcome]:
    """Runs a tf.function that returns results and gradients with respect to all float arguments."""
    with tf.device(device):

        def body(*tensors: Any) -> Any:
            floats = [t for t in tensors if t.dtype.is_floating or t.dtype.is_complex]
            with tf.GradientTape() as tape:
                tape.watch(floats)
                results = tensors_of(program.function(*tensors))
                targets = [r for r in results if r.dtype.is_floating or r.dtype.is_complex]
            return tape.gradient(targets, floats)

        function = tf.function(body, autograph=False, jit_compile=jit)
        return [outcome(lambda: function(*map(tf.constant, program.arrays))) for _ in range(calls)]


def _run_compiled_gradient(program: Program, device: str, calls: int) -> list[Outcome]:
    return _run_gradient(program, device, calls, jit=True)
