"""Conditionals and loops of random programs: version 2, and version 1 in Sessions without version 2."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from tests.ops.chains.kinds import GRAPHS, kind
from tests.ops.chains.program import Step
from tests.ops.chains.scope import INTEGERS, WIDE_FLOATS, Scope, Value, anything, exact, known, of
from tests.ops.chains.shapes import ranked


def predicate(step: Step, scope: Scope) -> Value:
    """Returns a boolean scalar, which mostly depends on the program's arguments."""
    found = scope.pick(step, "predicate", exact("bool"))
    if found is not None and step.chance("bool", 60):
        name = step.choose("how", ("any", "all"))
        reduced = {"any": tf.reduce_any, "all": tf.reduce_all}[name](found.tensor)
        return Value(f"{name}({found.name})", found.number, reduced, True)
    found = scope.pick(step, "sum", exact(*INTEGERS, *WIDE_FLOATS))
    if found is None:
        truth = step.chance("constant", 50)
        return Value(str(truth), step.number, tf.constant(truth), True)
    reduced = tf.reduce_sum(found.tensor) > tf.constant(1, found.dtype)
    return Value(f"sum({found.name}) > 1", found.number, reduced, True)


def prototypes(step: Step, scope: Scope) -> list[Value]:
    """Returns at least one value. The results of bodies have the types of these values."""
    found = [scope.pick(step, ("result", i), lambda _: True) for i in range(1 + step.draw("results", 3))]
    some = [value for value in found if value is not None] or [scope.need(step, "result", "int32")]
    return list({value.name: value for value in some}.values())


def body(
    step: Step,
    scope: Scope,
    index: int,
    wanted: Sequence[Value],
    values: Sequence[Value] = (),
    title: str = "branch",
    same_graph: bool = False,
) -> tuple[Scope, list[Value]]:
    """Builds a body that begins with `values`. Returns its scope, and its latest values of the required types."""
    inner = scope.child()
    if same_graph:
        inner.effects = scope.effects
    inner.values.extend(values)
    scope.note(f"{title} {index} of t{step.number}:")
    inner.build(step.bodies[index])
    results = [inner.latest(prototype) for prototype in wanted]
    inner.note(f"results: {', '.join(value.name for value in results)}")
    return inner, results


def settled(inner: Scope, results: Sequence[Value]) -> list[Any]:
    """Returns the results' tensors with control dependencies on the body's effects.

    TensorFlow may not add these dependencies itself.
    """
    with tf.control_dependencies(list(inner.effects.values())):
        return [tf.identity(value.tensor) for value in results]


def _branches(step: Step, scope: Scope, title: str, make: Callable[[list[Callable[[], Any]]], Any]) -> None:
    wanted = prototypes(step, scope)
    exact_results = [True] * len(wanted)

    def branch(index: int) -> Callable[[], Any]:
        def run() -> Any:
            inner, results = body(step, scope, index, wanted)
            for i, value in enumerate(results):
                exact_results[i] &= value.exact
            return settled(inner, results)

        return run

    names = [spec.name for spec in scope.program.variables]
    with scope.effect(*names) as done:
        scope.note(f"t{step.number}… = {title}")
        results = make([branch(index) for index in range(len(step.bodies))])
        if not isinstance(results, (list, tuple)):
            results = [results]
        done(results[0])
    for value, tensor, is_exact in zip(wanted, results, exact_results):
        # An eager conditional runs one branch, so exactness of the other branch's results is unknown.
        scope.add(step, tensor, is_exact and not tf.executing_eagerly(), value.element)


@kind(weight=9, bodies=(2, 2))
def cond(step: Step, scope: Scope) -> None:
    chosen = predicate(step, scope)

    def make(branches: list[Callable[[], Any]]) -> Any:
        return tf.cond(tf.identity(chosen.tensor), *branches)

    _branches(step, scope, f"cond({chosen.name})", make)


@kind(weight=4, bodies=(2, 4))
def switch_case(step: Step, scope: Scope) -> None:
    found = scope.pick(step, "index", exact("int32")) or scope.need(step, "index", "int32", [], small=True)
    count = len(step.bodies)

    def make(branches: list[Callable[[], Any]]) -> Any:
        index = tf.math.floormod(tf.reduce_sum(found.tensor), count + 1)
        return tf.switch_case(index, branches)

    _branches(step, scope, f"switch_case(sum({found.name}) mod {count + 1})", make)


@kind(weight=6, bodies=(1, 1))
def while_loop(step: Step, scope: Scope) -> None:
    wanted = [value for value in prototypes(step, scope) if value.element or known(value)]
    counter_type = step.choose("counter", ("int32", "int32", "int64"))
    limit = step.draw("turns", 4)
    found = scope.pick(step, "limit", exact(counter_type))
    if found is not None and step.chance("limit", 40):
        turns = tf.math.floormod(tf.reduce_sum(found.tensor), 4)
        text = f"sum({found.name}) mod 4"
    else:
        turns, text = tf.constant(limit, counter_type), str(limit)
    maximum = step.choose("maximum", (None, 5))

    def turn(i: tf.Tensor, *tensors: Any) -> Any:
        values = [
            Value(f"loop{step.number}.{n}", step.number, tensor, value.dtype in (*INTEGERS, "bool"), value.element)
            for n, (tensor, value) in enumerate(zip(tensors, wanted))
        ]
        inner, _ = body(step, scope, 0, (), values, "turn")
        results = [
            next(
                (v for v in reversed(inner.all_values()) if v.same_type(value) and v.shape == value.tensor.shape), value
            )
            for value in values
        ]
        one = Value("", 0, i + 1, True)
        inner.note(f"next: {', '.join(value.name for value in results)}")
        return tuple(settled(inner, [one, *results]))

    names = [spec.name for spec in scope.program.variables]
    with scope.effect(*names) as done:
        scope.note(f"t{step.number}… = while_loop({text} turns, {', '.join(value.name for value in wanted)})")
        first = tf.identity(tf.constant(0, counter_type))
        results = tf.while_loop(
            lambda i, *_: i < turns,
            turn,
            (first, *[value.tensor for value in wanted]),
            maximum_iterations=maximum,
            parallel_iterations=step.choose("parallel", (1, 10)),
        )
        done(results[0])
    for tensor, value in zip(results, [Value("", 0, first, True), *wanted]):
        scope.add(step, tensor, False, value.element)


@kind(weight=2, bodies=(1, 1))
def map_rows(step: Step, scope: Scope) -> None:
    value = scope.pick(step, "x", lambda v: anything(v) and ranked(1)(v) and known(v) and v.shape[0] > 0)
    if value is None or scope.ordered:
        return

    def run(row: tf.Tensor) -> Any:
        inside = Value(f"row{step.number}", step.number, row, value.exact)
        inner, _ = body(step, scope, 0, [], [inside], "row")
        same = [v for v in inner.values if v.same_type(inside) and v.shape == row.shape]
        return same[-1].tensor

    scope.note(f"t{step.number} = map_fn({value.name})")
    scope.add(step, tf.map_fn(run, value.tensor, fn_output_signature=value.tensor.dtype), False)


@kind(weight=2)
def scan(step: Step, scope: Scope) -> None:
    value = scope.pick(step, "x", lambda v: of("int32", "int64", "float32", "float64")(v) and ranked(1)(v) and known(v))
    if value is not None and value.shape[0] > 0:
        scope.apply(
            step,
            "scan x - 2y",
            lambda x: tf.scan(lambda before, row: row - before // 2 if row.dtype.is_integer else row - before / 2, x),
            value,
            exact=False,
        )


@kind(weight=4, modes=GRAPHS)
def switch_merge(step: Step, scope: Scope) -> None:
    """Switch and Merge, from which version 1 builds conditionals, with a side effect in one branch."""
    value = scope.pick(step, "x")
    if value is None:
        return
    chosen = predicate(step, scope)
    names = [spec.name for spec in scope.program.variables]
    with scope.effect(*names) as done:
        scope.note(f"t{step.number}… = merge of switch({value.name}, {chosen.name})")
        data = tf.identity(value.tensor)
        dead, alive = tf.raw_ops.Switch(data=data, pred=tf.identity(chosen.tensor))
        effects = []
        if step.chance("effect", 50):
            spec = step.choose("variable", scope.program.variables)
            new = scope.need(step, "new", spec.dtype, spec.shape)
            scope.note(f"  {spec.name}.assign({new.name}) where it holds")
            with tf.control_dependencies([tf.identity(alive)]):
                effects = [scope.variables[spec.name].assign(tf.identity(new.tensor), read_value=False)]
        with tf.control_dependencies(effects):
            one = tf.identity(alive)
        # tf.zeros_like would fold a known shape to a constant, which is live on both sides.
        other = tf.raw_ops.ZerosLike(x=dead) if step.chance("zeros", 50) else tf.identity(dead)
        merged, index = tf.raw_ops.Merge(inputs=[other, one])
        done(merged)
    scope.add(step, merged, value.exact)
    scope.add(step, index, True)
