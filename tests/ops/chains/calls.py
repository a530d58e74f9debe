"""Function calls, gradients, Python callbacks, assertions, queues and random numbers in random programs."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import tensorflow as tf

from tests.ops.chains.branches import body, prototypes, settled
from tests.ops.chains.kinds import kind
from tests.ops.chains.program import Mode, Step
from tests.ops.chains.scope import INTEGERS, WIDE_FLOATS, Scope, Value, anything, bounded, exact, known, of


@kind(weight=9, bodies=(1, 1))
def call(step: Step, scope: Scope) -> None:
    """Calls a tf.function with values and variables, once or twice."""
    given = list({v.name: v for v in prototypes(step, scope)}.values())
    specs = scope.program.variables
    passed = [spec for spec in specs if step.chance(("passed", spec.name), 40)]
    exact_results: list[bool] = []

    def function(values: list[Any], variables: list[Any]) -> list[Any]:
        inner = scope.child()
        inner.variables = {**scope.variables, **dict(zip((spec.name for spec in passed), variables))}
        arguments = [
            Value(f"f{step.number}.{i}", step.number, tensor, value.exact, value.element)
            for i, (tensor, value) in enumerate(zip(values, given))
        ]
        inner.values.extend(arguments)
        scope.note(f"body of t{step.number}:")
        inner.build(step.bodies[0])
        results = [inner.latest(argument) for argument in arguments]
        exact_results[:] = [value.exact for value in results]
        inner.note(f"results: {', '.join(value.name for value in results)}")
        return settled(inner, results)

    callee = tf.function(function, autograph=False, reduce_retracing=step.chance("relaxed", 30))
    names = [spec.name for spec in specs]
    with scope.effect(*names) as done:
        scope.note(
            f"t{step.number}… = function({', '.join(v.name for v in given)}; {', '.join(s.name for s in passed)})"
        )
        variables = [scope.variables[spec.name] for spec in passed]
        results = callee([value.tensor for value in given], variables)
        again = step.chance("twice", 40) and all(
            value.exact <= is_exact for value, is_exact in zip(given, exact_results)
        )
        if again:
            scope.note("  called again with its results")
            with tf.control_dependencies(results) if not tf.executing_eagerly() else contextlib.nullcontext():
                results = callee(results, variables)
        # TensorFlow inlines the call, so a control edge from the call itself would wait only for the call's effects.
        results = [tf.identity(result) for result in results]
        done(results[0])
    for tensor, value, is_exact in zip(results, given, exact_results):
        scope.add(step, tensor, is_exact, value.element)


@kind(weight=5, bodies=(1, 1))
def gradient(step: Step, scope: Scope) -> None:
    """Gradient of a body with respect to a value or a variable."""
    value = scope.pick(step, "x", lambda v: of(*WIDE_FLOATS)(v) and known(v))
    if value is None:
        return
    symbolic = not tf.executing_eagerly() and (scope.program.mode is Mode.SESSION_V1 or step.chance("symbolic", 40))
    with tf.GradientTape() if not symbolic else contextlib.nullcontext() as tape:
        if tape is not None:
            tape.watch(value.tensor)
        start = Value(f"g{step.number}", step.number, tf.sin(value.tensor), False)
        _, (result,) = body(step, scope, 0, [start], [start], "differentiated", same_graph=True)
        loss = tf.reduce_sum(bounded(result.tensor) * tf.cast(0.5, result.tensor.dtype))
    scope.note(f"t{step.number} = gradient of {result.name} by {value.name}, g{step.number} its sine")
    if tape is None:
        (found,) = tf.gradients(loss, [value.tensor], unconnected_gradients=tf.UnconnectedGradients.ZERO)
    else:
        found = tape.gradient(loss, value.tensor, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    scope.add(step, bounded(tf.convert_to_tensor(found)), False)


@kind(weight=2)
def callback(step: Step, scope: Scope) -> None:
    value = scope.pick(step, "x", of("float32", "float64", "int32", "int64", "uint8", "bool"))
    if value is None:
        return
    eager = step.chance("eager", 40)

    def run(x: Any) -> Any:
        return np.asarray(x)[::-1].copy() if np.ndim(x) else x

    def function(x: tf.Tensor) -> tf.Tensor:
        called = (
            tf.py_function(lambda y: tf.identity(y), [x], x.dtype) if eager else tf.numpy_function(run, [x], x.dtype)
        )
        return tf.ensure_shape(called, x.shape)

    scope.apply(step, "py_function" if eager else "numpy_function", function, value)


@kind(weight=2)
def checked(step: Step, scope: Scope) -> None:
    """An assertion, which rarely fails, followed by a copy."""
    value = scope.pick(step, "x", exact(*INTEGERS, *WIDE_FLOATS))
    if value is None:
        return
    fails = step.chance("fails", 5)

    def function(x: tf.Tensor) -> tf.Tensor:
        check = tf.debugging.assert_less(x, x) if fails else None
        held = tf.debugging.assert_equal(x, tf.identity(x))
        waits = [op for op in (check, held) if op is not None]
        with tf.control_dependencies(waits):
            return tf.identity(x)

    scope.apply(step, "asserted", function, value)


@kind(weight=1)
def check_numerics(step: Step, scope: Scope) -> None:
    value = scope.pick(step, "x", of(*WIDE_FLOATS, "bfloat16", "float16"))
    if value is not None:
        scope.apply(step, "check_numerics", lambda x: tf.debugging.check_numerics(x, "numbers"), value)


@kind(weight=1)
def queued(step: Step, scope: Scope) -> None:
    value = scope.pick(step, "x", lambda v: anything(v) and known(v))
    if value is None or tf.inside_function():
        return

    def function(x: tf.Tensor) -> tf.Tensor:
        queue = tf.queue.FIFOQueue(4, [x.dtype], [x.shape])
        put = queue.enqueue(x)
        with tf.control_dependencies([] if put is None else [put]):
            return queue.dequeue()

    scope.apply(step, "FIFOQueue", function, value)


@kind(weight=2)
def random_numbers(step: Step, scope: Scope) -> None:
    types = [dtype for dtype in scope.program.types if dtype in ("float32", "float64", "int32", "int64", "uint32")]
    if not types:
        return
    to = step.choose("type", types)
    whole = to in INTEGERS
    seed = scope.need(step, "seed", "int32", [2], small=True)
    scope.apply(
        step,
        f"stateless_uniform {to}",
        lambda s: tf.random.stateless_uniform(
            [2, 3], s, minval=None if whole else 0, maxval=None if whole else 1, dtype=to
        ),
        seed,
        exact=False,
    )
