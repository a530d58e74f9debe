"""Shape changes, reductions and products, whose result sizes follow from their operands' sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from tests.ops.chains.kinds import kind
from tests.ops.chains.program import Step
from tests.ops.chains.scope import (
    FLOATS,
    INTEGERS,
    MAX_ELEMENTS,
    NUMBERS,
    WIDE_FLOATS,
    Scope,
    Value,
    anything,
    bounded,
    exact,
    known,
    of,
)


def ranked(least: int, *types: str) -> Callable[[Value], bool]:
    """Returns a filter for values of at least this rank."""

    def check(value: Value) -> bool:
        rank = value.shape.rank
        return rank is not None and rank >= least and (value.dtype in types if types else anything(value))

    return check


def small(value: Value) -> bool:
    """Whether the value is known to have few elements."""
    count = value.shape.num_elements() if value.shape.rank is not None else None
    return anything(value) and count is not None and count * 2 <= MAX_ELEMENTS


REDUCTIONS: dict[str, tuple[tuple[str, ...], Callable[..., Any]]] = {
    "reduce_sum": (NUMBERS, tf.reduce_sum),
    "reduce_max": ((*FLOATS, *INTEGERS), tf.reduce_max),
    "reduce_min": ((*FLOATS, *INTEGERS), tf.reduce_min),
    "reduce_prod": (("int32", "int64", "uint8"), tf.reduce_prod),
    "reduce_any": (("bool",), tf.reduce_any),
    "reduce_all": (("bool",), tf.reduce_all),
}


@kind(weight=6)
def reduce(step: Step, scope: Scope) -> None:
    value = scope.pick(step, "x", lambda v: of(*NUMBERS, "bool")(v) and v.shape.rank is not None)
    if value is None:
        return
    name = step.choose("op", [name for name, (types, _) in REDUCTIONS.items() if value.dtype in types])
    axis = step.choose("axis", [None, *range(value.shape.rank)])
    keep = step.chance("keep", 30)
    # The minimum of an empty set is an infinity on one processor, and the largest number on another.
    if name in ("reduce_max", "reduce_min") and not _has_elements(value):
        name = "reduce_sum"
    function = REDUCTIONS[name][1]
    text = f"{name} axis={axis}" + (" keepdims" if keep else "")
    scope.apply(step, text, lambda x: bounded(function(x, axis, keep)), value)


def _has_elements(value: Value) -> bool:
    return known(value) and value.shape.num_elements() > 0


@kind(weight=3)
def arg_reduce(step: Step, scope: Scope) -> None:
    value = scope.pick(step, "x", lambda v: exact(*WIDE_FLOATS, "int32", "int64", "uint8")(v) and ranked(1)(v))
    if value is not None and _has_elements(value):
        name, to = step.choose("op", ("argmax", "argmin")), step.choose("type", (tf.int32, tf.int64))
        function = {"argmax": tf.argmax, "argmin": tf.argmin}[name]
        scope.apply(step, name, lambda x: function(x, 0, to), value)


@kind(weight=2)
def cumulate(step: Step, scope: Scope) -> None:
    value = scope.pick(step, "x", lambda v: of(*WIDE_FLOATS, "int32", "int64")(v) and ranked(1)(v))
    if value is not None:
        name = step.choose("op", ("cumsum", "cumprod") if value.dtype in INTEGERS else ("cumsum",))
        reverse = step.chance("reverse", 50)
        function = {"cumsum": tf.cumsum, "cumprod": tf.math.cumprod}[name]
        scope.apply(step, f"{name} reverse={reverse}", lambda x: bounded(function(x, reverse=reverse)), value)


@kind(weight=5)
def reshape(step: Step, scope: Scope) -> None:
    value = scope.pick(step, "x")
    if value is None:
        return
    count = value.shape.num_elements() if known(value) else None
    shapes: list[list[int]] = [[-1]]
    if count:
        shapes += [[1, count], [count, 1], [count]] + ([[2, count // 2]] if count % 2 == 0 else [])
    to = step.choose("shape", shapes)
    scope.apply(step, f"reshape {to}", lambda x: tf.reshape(x, to), value)


@kind(weight=3)
def dims(step: Step, scope: Scope) -> None:
    value = scope.pick(step, "x")
    if value is None:
        return
    name = step.choose("op", ("expand_dims", "squeeze", "transpose", "reverse"))
    functions: dict[str, Callable[..., Any]] = {
        "expand_dims": lambda x: tf.expand_dims(x, 0),
        "squeeze": tf.squeeze,
        "transpose": tf.transpose,
        "reverse": lambda x: tf.reverse(x, [0]),
    }
    if name == "reverse" and not ranked(1)(value):
        name = "expand_dims"
    scope.apply(step, name, functions[name], value)


@kind(weight=3)
def joined(step: Step, scope: Scope) -> None:
    value = scope.pick(step, "x", small)
    if value is None:
        return
    other = scope.pick(step, "y", lambda v: v.same_type(value) and known(v) and v.shape == value.shape) or value
    name = step.choose("op", ("concat", "stack") if ranked(1)(value) else ("stack",))
    axis = step.draw("axis", value.shape.rank + (name == "stack"))
    function = {"concat": tf.concat, "stack": tf.stack}[name]
    scope.apply(step, f"{name} axis={axis}", lambda x, y: function([x, y], axis), value, other)


@kind(weight=2)
def parted(step: Step, scope: Scope) -> None:
    value = scope.pick(step, "x", lambda v: ranked(1)(v) and known(v) and v.shape[0] > 0)
    if value is None:
        return
    names = value.name
    if step.chance("split", 50):
        first = 1 + step.draw("size", value.shape[0])
        parts = tf.split(value.tensor, [first, value.shape[0] - first])
        scope.note(f"t{step.number}… = split [{first}, …]({names})")
    else:
        parts = tf.unstack(value.tensor)
        scope.note(f"t{step.number}… = unstack({names})")
    for part in parts[:3]:
        scope.add(step, part, value.exact)


@kind(weight=3)
def padded(step: Step, scope: Scope) -> None:
    value = scope.pick(step, "x", lambda v: small(v) and v.dtype not in ("string",) and ranked(1)(v))
    if value is not None:
        paddings = [[step.draw((i, end), 2) for end in range(2)] for i in range(value.shape.rank)]
        scope.apply(step, f"pad {paddings}", lambda x: tf.pad(x, paddings), value)


@kind(weight=2)
def tiled(step: Step, scope: Scope) -> None:
    value = scope.pick(step, "x", lambda v: small(v) and ranked(1)(v))
    if value is not None:
        times = [1 + (axis == 0) for axis in range(value.shape.rank)]
        if step.chance("none", 15):
            times[0] = 0
        scope.apply(step, f"tile {times}", lambda x: tf.tile(x, times), value)


@kind(weight=2)
def broadcast(step: Step, scope: Scope) -> None:
    value = scope.pick(step, "x", small)
    if value is not None:
        scope.apply(step, "broadcast_to 2,…", lambda x: tf.broadcast_to(x, tf.concat([[2], tf.shape(x)], 0)), value)


@kind(weight=3)
def product(step: Step, scope: Scope) -> None:
    value = scope.pick(step, "x", lambda v: of(*FLOATS, "int32", "int64")(v) and v.shape.rank == 2)
    if value is not None:
        scope.apply(
            step, "matmul transpose_b", lambda x: bounded(tf.matmul(x, x, transpose_b=True)), value, exact=False
        )


@kind(weight=2)
def softmax(step: Step, scope: Scope) -> None:
    value = scope.pick(step, "x", lambda v: of(*FLOATS)(v) and ranked(1)(v))
    if value is not None:
        name = step.choose("op", ("softmax", "log_softmax"))
        scope.apply(step, name, getattr(tf.nn, name), value, exact=False)


@kind(weight=2)
def sorted_values(step: Step, scope: Scope) -> None:
    value = scope.pick(step, "x", lambda v: exact(*WIDE_FLOATS, "int32", "int64", "uint8")(v) and ranked(1)(v))
    if value is None:
        return
    name = step.choose("op", ("sort", "top_k", "argsort"))
    functions: dict[str, Callable[..., Any]] = {
        "sort": tf.sort,
        "top_k": lambda x: tf.math.top_k(x, tf.minimum(2, tf.shape(x)[-1]))[0],
        "argsort": lambda x: tf.argsort(x, stable=True),
    }
    scope.apply(step, name, functions[name], value)
