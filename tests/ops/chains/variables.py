"""Reads and writes of variables: whole and partial, direct and through handles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from tests.ops.chains.kinds import kind
from tests.ops.chains.program import Spec, Step
from tests.ops.chains.scope import NUMBERS, WIDE_FLOATS, Scope, Value, array


def choose(step: Step, scope: Scope, *types: str, least_rank: int = 0, rows: bool = False) -> tuple[Spec, Any] | None:
    """Returns a variable of one of these dtypes. rows: the first dimension is not empty."""
    specs = [
        spec
        for spec in scope.program.variables
        if (not types or spec.dtype in types) and len(spec.shape) >= least_rank and not (rows and spec.shape[0] == 0)
    ]
    if not specs:
        return None
    spec = step.choose("variable", specs)
    return spec, scope.variables[spec.name]


@kind(weight=8)
def read(step: Step, scope: Scope) -> None:
    found = choose(step, scope)
    if found is None:
        return
    spec, variable = found
    by_handle = step.chance("handle", 30)
    scope.note(f"t{step.number} = read({spec.name})" + (" by its handle" if by_handle else ""))
    with scope.effect(spec.name) as done:
        if by_handle:
            tensor = tf.raw_ops.ReadVariableOp(resource=variable.handle, dtype=variable.dtype)
        else:
            tensor = variable.read_value()
        done(tensor)
    scope.add(step, tensor, False)


@kind(weight=8)
def assign(step: Step, scope: Scope) -> None:
    found = choose(step, scope)
    if found is None:
        return
    spec, variable = found
    value = scope.need(step, "value", spec.dtype, spec.shape)
    _write(step, scope, spec, "assign", [value], lambda x: variable.assign(x, read_value=False))


@kind(weight=6)
def update(step: Step, scope: Scope) -> None:
    found = choose(step, scope, *NUMBERS)
    if found is None:
        return
    spec, variable = found
    value = scope.need(step, "value", spec.dtype, spec.shape)
    name = step.choose("op", ("assign_add", "assign_sub"))
    _write(step, scope, spec, name, [value], lambda x: getattr(variable, name)(x, read_value=False))


def _write(step: Step, scope: Scope, spec: Spec, name: str, values: list[Value], function: Callable[..., Any]) -> None:
    scope.note(f"{spec.name}.{name}({', '.join(value.name for value in values)})")
    with scope.effect(spec.name) as done:
        done(function(*[value.tensor for value in values]))


@kind(weight=4)
def scatter(step: Step, scope: Scope) -> None:
    found = choose(step, scope, *NUMBERS, "bool", least_rank=1, rows=True)
    if found is None:
        return
    spec, variable = found
    names = ["update"]
    if spec.dtype in NUMBERS:
        names += ["add", "sub"]
    if spec.dtype in ("float32", "float64", "int32", "int64"):
        names += ["max", "min"]
    name = step.choose("op", names)
    order = np.random.default_rng(step.hash("rows")).permutation(spec.shape[0])[: 1 + step.draw("count", 2)]
    if step.chance("wrong", 5):
        order[0] = spec.shape[0] + 2
    rows = Value(
        f"rows {order.tolist()}", step.number, tf.constant(order, step.choose("type", ("int32", "int64"))), True
    )
    shape = [len(order), *spec.shape[1:]]
    value = scope.need(step, "value", spec.dtype, shape)
    op = getattr(tf.raw_ops, f"ResourceScatter{name.capitalize()}")
    nd = step.chance("nd", 40) and name in ("update", "add", "sub")
    if nd:
        op = getattr(tf.raw_ops, f"ResourceScatterNd{name.capitalize()}")
        function = lambda i, x: op(ref=variable.handle, indices=i[:, None], updates=x)  # noqa: E731
    else:
        function = lambda i, x: op(resource=variable.handle, indices=i, updates=x)  # noqa: E731
    _write(step, scope, spec, f"scatter{'_nd' if nd else ''}_{name}", [rows, value], function)


@kind(weight=3)
def assign_slice(step: Step, scope: Scope) -> None:
    found = choose(step, scope, least_rank=1, rows=True)
    if found is None:
        return
    spec, variable = found
    value = scope.need(step, "value", spec.dtype, spec.shape[1:])
    _write(step, scope, spec, "[0].assign", [value], lambda x: tf.group(variable[0].assign(x)))


@kind(weight=3)
def read_rows(step: Step, scope: Scope) -> None:
    found = choose(step, scope, least_rank=1, rows=True)
    if found is None:
        return
    spec, variable = found
    order = [step.draw(i, spec.shape[0]) for i in range(2)]
    scope.note(f"t{step.number} = sparse_read({spec.name}, {order})")
    with scope.effect(spec.name) as done:
        tensor = variable.sparse_read(tf.constant(order, step.choose("type", (tf.int32, tf.int64))))
        done(tensor)
    scope.add(step, tensor, False)


@kind(weight=1)
def read_elements(step: Step, scope: Scope) -> None:
    found = choose(step, scope, least_rank=1, rows=True)
    if found is None:
        return
    spec, variable = found
    scope.note(f"t{step.number} = gather_nd({spec.name}, [[0]])")
    with scope.effect(spec.name) as done:
        tensor = tf.gather_nd(variable, [[0]])
        done(tensor)
    scope.add(step, tensor, False)


@kind(weight=1)
def count_up(step: Step, scope: Scope) -> None:
    found = choose(step, scope, "int32", "int64")
    if found is None or found[0].shape:
        return
    spec, variable = found
    scope.note(f"t{step.number} = count_up_to({spec.name}, 100)")
    with scope.effect(spec.name) as done:
        tensor = tf.raw_ops.ResourceCountUpTo(resource=variable.handle, limit=100, T=variable.dtype)
        done(tensor)
    scope.add(step, tensor, False)


@kind(weight=1)
def variable_facts(step: Step, scope: Scope) -> None:
    found = choose(step, scope)
    if found is None:
        return
    spec, variable = found
    form = step.choose("form", ("shape", "initialized"))
    scope.note(f"t{step.number} = {form} of {spec.name}")
    with scope.effect(spec.name) as done:
        if form == "shape":
            tensor = tf.raw_ops.VariableShape(input=variable.handle, out_type=step.choose("type", (tf.int32, tf.int64)))
        else:
            tensor = tf.raw_ops.VarIsInitializedOp(resource=variable.handle)
        done(tensor)
    scope.add(step, tensor, True)


@kind(weight=3)
def train(step: Step, scope: Scope) -> None:
    """Update of a variable by an optimizer's op."""
    found = choose(step, scope, *WIDE_FLOATS, "bfloat16", "float16")
    if found is None:
        return
    spec, variable = found
    gradient = scope.need(step, "gradient", spec.dtype, spec.shape)
    rate = tf.constant(0.5, spec.dtype)
    fitting = [s for s in scope.program.variables if s != spec and (s.dtype, s.shape) == (spec.dtype, spec.shape)]
    if fitting and step.chance("momentum", 60):
        other = step.choose("slot", fitting)
        slot = scope.variables[other.name]
        scope.note(f"momentum({spec.name}, {other.name}, {gradient.name})")
        with scope.effect(spec.name, other.name) as done:
            done(
                tf.raw_ops.ResourceApplyMomentum(
                    var=variable.handle, accum=slot.handle, lr=rate, grad=gradient.tensor, momentum=rate
                )
            )
        return
    _write(
        step,
        scope,
        spec,
        "gradient_descent",
        [gradient],
        lambda x: tf.raw_ops.ResourceApplyGradientDescent(var=variable.handle, alpha=rate, delta=x),
    )


@kind(weight=2)
def exchange(step: Step, scope: Scope) -> None:
    """Assigns one variable's value to another variable, then changes the first: the buffers must be separate."""
    pairs = [
        (one, other)
        for one in scope.program.variables
        for other in scope.program.variables
        if one != other and (one.dtype, one.shape) == (other.dtype, other.shape)
    ]
    if not pairs:
        return
    one, other = step.choose("pair", pairs)
    scope.note(f"t{step.number} = {one.name}; {other.name} = t{step.number}; {one.name} = a constant")
    changed = tf.constant(array(step, "changed", one.dtype, one.shape), one.dtype)
    with scope.effect(one.name, other.name) as done:
        tensor = scope.variables[one.name].read_value()
        with tf.control_dependencies([tensor]):
            moved = scope.variables[other.name].assign(tensor, read_value=False)
        with tf.control_dependencies([] if moved is None else [moved]):
            last = scope.variables[one.name].assign(changed, read_value=False)
        if last is not None:
            done(last)
    scope.add(step, tensor, False)
